/** Writes the contract to `openapi.json` in the repository's root. With `--check`, fails if the file is out of date. */
import { OpenApi } from "effect/http-api"
import { readFileSync, writeFileSync } from "node:fs"
import { TachographApi } from "../src/TachographApi.ts"

const file = new URL("../../../openapi.json", import.meta.url)
const text = `${JSON.stringify(OpenApi.fromApi(TachographApi), null, 2)}\n`

const current = () => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined
  }
}

if (!process.argv.includes("--check")) {
  writeFileSync(file, text)
} else if (current() === text) {
  console.log("openapi.json matches the contract.")
} else {
  console.error("openapi.json does not match the contract. Run `npm run openapi` and commit the file.")
  process.exitCode = 1
}
