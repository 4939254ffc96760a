/** The option `--redact`. */
import * as Patterns from "@tachograph/capture/masking/Patterns"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { existsSync, readFileSync } from "node:fs"
import { UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "./Setting.ts"

const path = Setting.make({
  name: "redact",
  metavar: "FILE",
  description: "A file with patterns, one regular expression a line, whose matches are masked in every event",
  default: "none",
  expected: "the path of a file, or none",
  parse: (text): Option.Option<string | undefined> => Option.some(text === "none" ? undefined : text)
})

export const { flag } = path

/** The patterns in the file, which can be used; null if there is none. */
export const resolve = (given: Option.Option<string>) =>
  Effect.flatMap(path.resolve(given), (file) =>
    file === undefined
      ? Effect.succeed(null)
      : Effect.try({
          try: () => {
            if (!existsSync(file)) throw new Error("it does not exist")
            const list = readFileSync(file, "utf8")
            Patterns.parse(list)
            return list
          },
          catch: (error) =>
            new UsageError({ message: `The file of patterns ${file} cannot be used: ${(error as Error).message}` })
        })
  )
