/** How the texts that are copied write the key: as it is, hidden, or as a variable of the environment where the page has none. */

/** Where programs that have no key in their text look for it. */
export const variable = "TACHOGRAPH_API_KEY"

export interface Credential {
  /** A word of a shell that ends with the key. */
  readonly word: (before: string) => string
  /** The same, with the key percent-encoded. */
  readonly encodedWord: (before: string) => string
  /** Expressions of the languages. */
  readonly js: string
  readonly python: string
  /** The lines before a program in Python that its expression needs. */
  readonly pythonImports: string
  /** The line of Codex's configuration that sends it in a header. */
  readonly codexLine: (header: string) => string
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** What stands in a text for a key of this form. `encoded` is the key percent-encoded. */
const written = (key: string, encoded: string): Credential => ({
  word: (before) => quote(before + key),
  encodedWord: (before) => quote(before + encoded),
  js: JSON.stringify(key),
  python: JSON.stringify(key),
  pythonImports: "",
  codexLine: (header) => `http_headers = { ${JSON.stringify(header)} = ${JSON.stringify(key)} }`
})

const dots = "••••••••"
export const hidden = written(dots, dots)

export const ofKey = (key: string): Credential => written(key, encodeURIComponent(key))

export const ofVariable: Credential = {
  word: (before) => `"${before}$${variable}"`,
  encodedWord: (before) => `"${before}$${variable}"`,
  js: `process.env.${variable}`,
  python: `os.environ["${variable}"]`,
  pythonImports: "import os\n",
  codexLine: (header) => `env_http_headers = { ${JSON.stringify(header)} = ${JSON.stringify(variable)} }`
}

const unusual = /[^\w:/.%~[\]-]/g

/** The address of the server, which a shell takes as one word: the pages are below it. */
export const addressOf = (page: string): string =>
  new URL("..", page).href
    .replace(/\/$/, "")
    .replaceAll(unusual, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`)

/** The command that makes a key which only records. */
export const commandFor = (project: string): string =>
  `tachograph keys create --scope record --name my-app${project === "default" ? "" : ` --project ${quote(project)}`}`
