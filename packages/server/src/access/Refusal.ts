/** What an answer that is an error says, in one line. */
import type { ApiError } from "@tachograph/client/api"
import type { Scope } from "@tachograph/core"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Table from "../terminal/Table.ts"

interface Body {
  readonly type: string
  readonly message?: string | undefined
  readonly detail?: ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly msg: string }>
}

/** What to do about errors whose types do not say it. */
const explanations: Readonly<Record<string, string>> = {
  "not-found": "The server has no such path: it may be older than this command, or the URL may be wrong",
  overloaded: "The server has too much to do: try again later",
  "storage-unavailable": "The storage cannot be used"
}

const isStranger = (type: string): boolean => type.startsWith("http-")

const reasonOf = ({ detail, message, type }: Body, status: number, scopes: ReadonlyArray<Scope>): string => {
  if (detail !== undefined) return detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join("; ")
  if (isStranger(type)) return `Nothing answers there as Tachograph does (${status}): is TACHOGRAPH_URL right?`
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

/** The error of a command whose request was refused. `scopes` are those that were needed. */
export const of = ({ body, status, type }: ApiError, scopes: ReadonlyArray<Scope>): CommandError =>
  new CommandError({
    message: Table.printable(reasonOf(body, status, scopes)),
    // What something else than Tachograph has answered may end.
    refusal: isStranger(type) ? undefined : type
  })
