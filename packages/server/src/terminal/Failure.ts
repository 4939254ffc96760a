/** Why a call failed, in one line for people. */
import type { EventSummary } from "@tachograph/client/api"
import * as Figures from "./Figures.ts"
import * as Table from "./Table.ts"

type Failed = Pick<EventSummary, "error_type" | "error_status" | "http_status">

/** From here on a status of HTTP is an error's. */
const firstErrorStatus = 400

const printed = (text: string, maxCharacters: number): string =>
  Table.printable(Figures.cut(text.replaceAll(/\s+/g, " ").trim(), maxCharacters))

/** `401 authentication_error: invalid x-api-key`. The status is left out where the type says it. */
export const of = (
  { error_status, error_type, http_status }: Failed,
  message: string | null,
  maxCharacters: number
): string => {
  const type = printed(error_type ?? "", maxCharacters)
  const status = error_status ?? http_status ?? 0
  const isSaid = status < firstErrorStatus || type === String(status) || type === `http_${status}`
  return `${isSaid ? "" : `${status} `}${type}${message === null ? "" : `: ${printed(message, maxCharacters)}`}`
}
