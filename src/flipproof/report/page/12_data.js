// From the JSON in the page to typed arrays: every packed array becomes {shape, values}.
flipproof.data = (() => {
  const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f8: Float64Array };

  function bytesOf(base64) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  async function unpacked({ dtype, shape, gz }) {
    const stream = new Blob([bytesOf(gz)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return { shape, values: new TYPES[dtype](await new Response(stream).arrayBuffer()) };
  }

  const isPacked = (value) => typeof value === "object" && value !== null && typeof value.gz === "string";

  async function unpackWithin(parent) {
    await Promise.all(Object.entries(parent).map(async ([key, value]) => {
      if (isPacked(value)) parent[key] = await unpacked(value);
      else if (typeof value === "object" && value !== null) await unpackWithin(value);
    }));
  }

  async function read() {
    const content = JSON.parse(flipproof.dom.byId("data").textContent);
    await unpackWithin(content);
    return content;
  }

  return { read };
})();
