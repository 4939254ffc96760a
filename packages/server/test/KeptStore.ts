/** Stores that earlier versions wrote: `test/kept/README.md`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { temporaryFolder } from "./TachographProcess.ts"

const kept = (file: string) => new URL(`kept/${file}`, import.meta.url)

export const names: ReadonlyArray<string> = readdirSync(kept("")).flatMap(
  (file) => /^(.+)\.db\.gz$/.exec(file)?.[1] ?? []
)

export interface Kept {
  readonly keys: Readonly<Record<"admin" | "reader" | "other" | "revoked", string>>
  /** By what it was grouped. The first stores do not say it. */
  readonly usage?: Readonly<Record<string, unknown>>
  readonly events: ReadonlyArray<string>
}

export const contentOf = (name: string): Kept => JSON.parse(readFileSync(kept(`${name}.json`), "utf8"))

/** A copy of a store, in a folder of its own. */
export const copyOf = (name: string) => {
  const folder = temporaryFolder()
  const file = join(folder, "tachograph.db")
  writeFileSync(file, gunzipSync(readFileSync(kept(`${name}.db.gz`))))
  return { folder, file, storage: `sqlite:${file}` }
}
