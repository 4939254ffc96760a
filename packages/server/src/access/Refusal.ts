/** What an answer that is an error says, in one line. */
import * as Effect from "effect/Effect"
import type { Scope } from "@tachograph/core"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Table from "../terminal/Table.ts"

interface Body {
  readonly type?: string
  readonly message?: string
  readonly detail?: ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly msg: string }>
}

/** What to do about errors whose types do not say it. */
const explanations: Readonly<Record<string, string>> = {
  "not-found": "The server has no such path: it may be older than this command, or the URL may be wrong",
  overloaded: "The server has too much to do: try again later",
  "storage-unavailable": "The storage cannot be used"
}

const reasonOf = ({ detail, message, type }: Body, status: number, scopes: ReadonlyArray<Scope>): string => {
  if (detail !== undefined) return detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join("; ")
  if (type === undefined) return `Nothing answers there as Tachograph does (${status}): is TACHOGRAPH_URL right?`
  if (type === "unauthorized") {
    return process.env["TACHOGRAPH_API_KEY"]
      ? "The server refuses the key in TACHOGRAPH_API_KEY"
      : "TACHOGRAPH_API_KEY is missing: set it to one of the server's keys"
  }
  if (type === "forbidden") return `The key in TACHOGRAPH_API_KEY lacks the scope ${scopes.join(", ")}`
  const missing = /^(.+)-not-found$/.exec(type)?.[1]
  if (missing !== undefined) return `There is no such ${missing.replaceAll("-", " ")}`
  return message ?? explanations[type] ?? type
}

/** Whether a request that failed so may succeed later: one that had no answer, or whose answer says so. */
export const mayEnd = ({ refusal }: CommandError): boolean =>
  refusal === undefined || refusal === "storage-unavailable" || refusal === "overloaded"

/** Fails with it. Closes the answer. `scopes` are those that were needed. */
export const of = (response: Response, scopes: ReadonlyArray<Scope>): Effect.Effect<never, CommandError> =>
  Effect.flatMap(
    Effect.promise(() => response.json().catch(() => ({})) as Promise<Body>),
    (body) => {
      const message = Table.printable(reasonOf(body ?? {}, response.status, scopes))
      return Effect.fail(new CommandError({ message, refusal: body?.type }))
    }
  )
