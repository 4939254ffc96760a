/** Options that name a file, which is read when a command starts. */
import * as Patterns from "@tachograph/capture/masking/Patterns"
import * as PriceFile from "@tachograph/prices/PriceFile"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { existsSync, readFileSync } from "node:fs"
import { UsageError } from "../terminal/CliErrors.ts"
import * as Setting from "./Setting.ts"

/** What the file holds, by its path; null if none is given. `of` says in the plural what that is, and `read` throws where it cannot be used. */
const make = <A>(name: string, of: string, description: string, read: (file: string) => A) => {
  const path = Setting.make({
    name,
    metavar: "FILE",
    description,
    default: "none",
    expected: "the path of a file, or none",
    parse: (text): Option.Option<string | undefined> => Option.some(text === "none" ? undefined : text)
  })
  const contents = (file: string) =>
    Effect.try({
      try: () => read(file),
      catch: (error) =>
        new UsageError({ message: `The file of ${of} ${file} cannot be used: ${(error as Error).message}` })
    })
  return {
    flag: path.flag,
    resolve: (given: Option.Option<string>) =>
      Effect.flatMap(path.resolve(given), (file) => (file === undefined ? Effect.succeed(null) : contents(file)))
  }
}

/** The option `--prices`. */
export const prices = make(
  "prices",
  "prices",
  "A file with prices of your own, before those of the kept list",
  (file) => PriceFile.parse(readFileSync(file, "utf8"))
)

/** The option `--oidc-client-secret-file`. */
export const clientSecret = make(
  "oidc-client-secret-file",
  "the client secret",
  "A file with the secret of this server at the provider",
  (file) => {
    const secret = readFileSync(file, "utf8").trim()
    if (secret === "") throw new Error("it is empty")
    return Redacted.make(secret)
  }
)

/** The option `--redact`: a list of patterns, which can be used. */
export const redact = make(
  "redact",
  "patterns",
  "A file with patterns, one regular expression a line, whose matches are masked in every event",
  (file) => {
    if (!existsSync(file)) throw new Error("it does not exist")
    const list = readFileSync(file, "utf8")
    Patterns.parse(list)
    return list
  }
)
