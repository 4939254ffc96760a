/** The option `--url`: a server to ask, instead of a storage to open. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Setting from "../config/Setting.ts"
import { UsageError } from "../terminal/CliErrors.ts"

const parse = (text: string): Option.Option<URL> => {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === ""
  return isPlain && /^https?:$/.test(url.protocol) ? Option.some(url) : Option.none()
}

export const setting = Setting.make({
  name: "url",
  metavar: "URL",
  description: "A server to ask with the key in TACHOGRAPH_API_KEY, instead of --storage",
  default: undefined,
  expected: "a URL such as http://127.0.0.1:4400, without a key in it",
  // It may contain a password.
  redact: (text) => text.replace(/^([a-z+]+:\/\/).*$/i, "$1…"),
  parse
})

/** Undefined if a storage is to be opened: none of the two options excludes the other's variable, but both of them do. */
export const resolve = Effect.fnUntraced(function* (url: Option.Option<string>, storage: Option.Option<string>) {
  if (Option.isSome(storage)) {
    return Option.isSome(url)
      ? yield* new UsageError({ message: "--url and --storage exclude each other: give one of them" })
      : undefined
  }
  return Option.getOrUndefined(yield* setting.resolveOption(url))
})
