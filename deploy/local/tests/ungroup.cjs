/**
 * The spec that a test belongs to, if its file holds several, and the titles of the test in it. `spec-groups.mjs` writes such
 * files.
 */
exports.ungroup = function ungroup(titles) {
  const [first = '', ...others] = titles;
  return /\.(e2e-)?spec\.tsx?$/.test(first) ? { spec: first, titles: others } : { spec: undefined, titles };
};
