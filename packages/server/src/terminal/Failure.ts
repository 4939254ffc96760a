/** Why a call failed, in one line for people. */
import type { EventSummary } from "@tachograph/client/api"
import { keyOf } from "@tachograph/core/domain/Failure"
import * as Figures from "./Figures.ts"
import * as Table from "./Table.ts"

type Failed = Pick<EventSummary, "error_code" | "error_type" | "error_status" | "http_status">

const printed = (text: string, maxCharacters: number): string =>
  Table.printable(Figures.cut(text.replaceAll(/\s+/g, " ").trim(), maxCharacters))

/** `404 invalid_request_error, model_not_found: No such model`. What the type says is not said again. */
export const of = (
  { error_code, error_status, error_type, http_status }: Failed,
  message: string | null,
  maxCharacters: number
): string => {
  const type = printed(error_type ?? "", maxCharacters)
  const failed = { errorCode: error_code, errorStatus: error_status, errorType: error_type, httpStatus: http_status }
  const status = keyOf(failed)?.status ?? null
  const isSaid = status === null || type === String(status) || type === `http_${status}`
  const code = error_code === null || error_code === error_type ? "" : `, ${printed(error_code, maxCharacters)}`
  return `${isSaid ? "" : `${status} `}${type}${code}${message === null ? "" : `: ${printed(message, maxCharacters)}`}`
}
