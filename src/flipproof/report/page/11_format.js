// Numbers and names as text. Bounds are rounded to their safe side: p_lower down, p_upper up.
flipproof.format = (() => {
  const DIGITS = 5;

  const count = (value) => value.toLocaleString("en-US");

  const share = (value) => value.toFixed(3);

  const step = 10 ** -DIGITS;

  function lower(probability) {
    const rounded = Number(probability.toFixed(DIGITS));
    return (rounded > probability ? rounded - step : rounded).toFixed(DIGITS);
  }

  function upper(probability) {
    const rounded = Number(probability.toFixed(DIGITS));
    return (rounded < probability ? rounded + step : rounded).toFixed(DIGITS);
  }

  const radius = (value) => (value < 0 ? "unbounded" : count(value));

  function duration(seconds) {
    if (seconds < 1) return "less than 1 s";
    if (seconds < 90) return `about ${Math.round(seconds)} s`;
    if (seconds < 90 * 60) return `about ${Math.round(seconds / 60)} min`;
    if (seconds < 48 * 3600) return `about ${Math.round(seconds / 3600)} h`;
    return `about ${Math.round(seconds / 86400)} days`;
  }

  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  /** "1 attribute added", "6 attributes added", "any number of attributes added". */
  function amount(number, words) {
    if (number < 0) return `any number of ${words}`;
    const [noun, ...rest] = words.split(" ");
    const one = noun.endsWith("ies") ? `${noun.slice(0, -3)}y` : noun.replace(/s$/, "");
    return [count(number), number === 1 ? one : noun, ...rest].join(" ");
  }

  function shorten(text, length) {
    const characters = Array.from(String(text));
    return characters.length <= length ? String(text) : `${characters.slice(0, length - 1).join("")}…`;
  }

  /** Plotly reads some HTML in its texts: a name from the data must not be read as such. */
  const forPlotly = (text, length = 24) => shorten(text, length)
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  const isHash = (text) => /^(sha256:)?[0-9a-f]{16,}$/i.test(text);

  /** "a, b and c". */
  const joined = (parts, last = "and") => (
    parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${last} ${parts.at(-1)}`
  );

  return { count, share, lower, upper, radius, duration, capital, amount, shorten, forPlotly, isHash, joined };
})();
