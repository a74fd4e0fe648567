// ESLint's recommended rules for all JavaScript, and the width of a line: `make lint`.
import { createRequire } from "node:module";

// Its packages are where ESLint is, in the environment, not beside this file.
const take = createRequire(process.argv[1]);
const { browser, node, worker } = take("globals");
const unused = { argsIgnorePattern: "^_$", varsIgnorePattern: "^_$" };

export default [
  take("@eslint/js").configs.recommended,
  {
    languageOptions: { globals: { ...browser, ...worker } },
    rules: { "max-len": ["error", 88], "no-unused-vars": ["error", unused] },
  },
  { files: ["**/*.mjs"], languageOptions: { globals: node } },
  // Sphinx says how this one looks.
  { files: ["**/scorer.js"], rules: { "no-unused-vars": "off" } },
];
