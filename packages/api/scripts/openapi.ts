/** Writes the contract to openapi.json at the root of the repository, or, with --check, tells whether it is there already. */
import { OpenApi } from "effect/http-api"
import { readFileSync, writeFileSync } from "node:fs"
import { TachographApi } from "../src/TachographApi.ts"

const file = new URL("../../../openapi.json", import.meta.url)
const text = `${JSON.stringify(OpenApi.fromApi(TachographApi), null, 2)}\n`

const kept = () => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined
  }
}

if (!process.argv.includes("--check")) {
  writeFileSync(file, text)
} else if (kept() === text) {
  console.log("openapi.json is what the contract says.")
} else {
  console.error("openapi.json is not what the contract says. Run `npm run openapi` and commit the file.")
  process.exitCode = 1
}
