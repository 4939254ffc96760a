/** The option `--prices`. */
import * as PriceFile from "@tachograph/prices/PriceFile"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readFileSync } from "node:fs"
import { UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "./Setting.ts"

const path = Setting.make({
  name: "prices",
  metavar: "FILE",
  description: "A file with prices of your own, before those of the kept list",
  default: "none",
  expected: "the path of a file, or none",
  parse: (text): Option.Option<string | undefined> => Option.some(text === "none" ? undefined : text)
})

export const { flag } = path

/** The prices in the file; null if there is none. */
export const resolve = (given: Option.Option<string>) =>
  Effect.flatMap(path.resolve(given), (file) =>
    file === undefined
      ? Effect.succeed(null)
      : Effect.try({
          try: () => PriceFile.parse(readFileSync(file, "utf8")),
          catch: (error) =>
            new UsageError({ message: `The file of prices ${file} cannot be used: ${(error as Error).message}` })
        })
  )
