// Numbers and names as text. Bounds are rounded to their safe side, p_lower down and p_upper up.
flipproof.format = (() => {
  const BOUND_DIGITS = 5;
  const SHARE_DIGITS = 3;
  const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]/u;
  const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

  const count = (value) => value.toLocaleString("en-US");

  function down(value, digits) {
    const rounded = Number(value.toFixed(digits));
    return (rounded > value ? rounded - 10 ** -digits : rounded).toFixed(digits);
  }

  function up(value, digits) {
    const rounded = Number(value.toFixed(digits));
    return (rounded < value ? rounded + 10 ** -digits : rounded).toFixed(digits);
  }

  /** A share that is not whole never looks whole. */
  const share = (value) => (value >= 1 ? value : Math.min(value, 0.999)).toFixed(SHARE_DIGITS);

  const lower = (probability) => down(probability, BOUND_DIGITS);

  const upper = (probability) => up(probability, BOUND_DIGITS);

  /** A radius; the search for it ends at `limit`, so that one means "at least". */
  function radius(value, limit) {
    if (value < 0) return "unbounded";
    return value >= limit ? `${count(value)}+` : count(value);
  }

  function duration(seconds) {
    if (seconds < 1) return "less than 1 s";
    if (seconds < 90) return `about ${Math.round(seconds)} s`;
    if (seconds < 90 * 60) return `about ${Math.round(seconds / 60)} min`;
    if (seconds < 48 * 3600) return `about ${Math.round(seconds / 3600)} h`;
    return `about ${Math.round(seconds / 86400)} days`;
  }

  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  /** "1 sample", "20 samples". */
  const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

  /** "edges added: 2". The words stay as they are: nobody can make a singular of every plural. */
  const amount = (number, words) => `${words}: ${count(number)}`;

  /** A name of nothing that can be seen is called so. */
  const visible = (text) => (VISIBLE.test(text) ? String(text) : "(no name)");

  function shorten(text, length) {
    const characters = Array.from(visible(text));
    return characters.length <= length ? characters.join("") : `${characters.slice(0, length - 1).join("")}…`;
  }

  /** For texts that hold no markup: right-to-left text does not disturb what stands around it. */
  const isolated = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

  /** Plotly reads some HTML in its texts: a name from the data must not be read as such. */
  const forPlotly = (text, length = 24) => isolated(shorten(text, length))
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  const isHash = (text) => /^(sha256:)?[0-9a-f]{16,}$/i.test(text);

  /** "a, b and c". */
  const joined = (parts) => (
    parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
  );

  return {
    count, share, lower, upper, radius, duration, capital, plural, amount, visible, shorten, isolated, forPlotly,
    isHash, joined,
  };
})();
