// An image and its noisy copies, drawn pixel by pixel.
flipproof.image = (() => {
  const { element, paragraph } = flipproof.dom;
  const UNTOUCHED = "Noise does not touch the pixels of this run.";

  /** Three channels are red, green, blue; otherwise a high value is dark ink on white, in both themes. */
  function colourAt(values, start, channels, levels) {
    const scaled = (channel) => Math.round((values[start + channel] * 255) / Math.max(1, levels - 1));
    if (channels === 3) return [scaled(0), scaled(1), scaled(2)];
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += scaled(channel);
    const paper = 255 - sum / channels;
    return [paper, paper, paper];
  }

  function canvas(values, { height, width, channels, levels }, label) {
    const node = element("canvas", { width, height, class: "pixels", role: "img", "aria-label": label });
    const context = node.getContext("2d");
    const pixels = context.createImageData(width, height);
    for (let i = 0; i < height * width; i += 1) {
      pixels.data.set([...colourAt(values, i * channels, channels, levels), 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
    return node;
  }

  const figure = (values, images, caption) => element(
    "figure", {}, canvas(values, images, caption), element("figcaption", {}, caption),
  );

  const note = ({ copies, touched }) => (touched ? flipproof.copies.note(copies) : paragraph(UNTOUCHED, "note"));

  function show(parent, images, input) {
    const size = images.height * images.width * images.channels;
    const part = ({ values }, number) => values.subarray(number * size, (number + 1) * size);
    const noisy = images.copies.map((copy, position) => figure(
      part(images.noisy, position * images.count + input), images, flipproof.copies.numbered(copy),
    ));
    parent.append(
      element("div", { class: "images" }, figure(part(images.clean, input), images, "observed"), ...noisy),
      note(images),
    );
  }

  return { show };
})();
