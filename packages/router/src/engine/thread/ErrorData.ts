/** Errors as what can cross to another thread. */

/** An error, and the chain of its causes, without their classes. */
export interface ErrorData {
  readonly name: string
  readonly message: string
  /** Where it was made; undefined of what is no `Error`. */
  readonly stack: string | undefined
  /** The properties that say which error it is, such as `code` and `errcode`. */
  readonly fields: Readonly<Record<string, string | number>>
  readonly cause: ErrorData | undefined
}

/** Names of properties that say which error it is. */
const told = ["_tag", "code", "errcode", "errno", "kind", "type"]

const maxCauses = 8

export const errorData = (error: unknown, depth = 0): ErrorData => {
  if (typeof error !== "object" || error === null) {
    return { name: "Error", message: String(error), stack: undefined, fields: {}, cause: undefined }
  }
  const { cause, message, name, reason, stack } = error as Record<string, unknown>
  const inner = reason ?? cause
  const fields: Record<string, string | number> = {}
  for (const field of told) {
    const value = (error as Record<string, unknown>)[field]
    if (typeof value === "string" || typeof value === "number") fields[field] = value
  }
  return {
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message : "",
    stack: typeof stack === "string" ? stack : undefined,
    fields,
    cause: inner === undefined || depth === maxCauses ? undefined : errorData(inner, depth + 1)
  }
}

/** An error of the same message, stack, fields and causes. */
export const toError = ({ cause, fields, message, name, stack }: ErrorData): Error => {
  const error = new Error(message, cause === undefined ? undefined : { cause: toError(cause) })
  return Object.assign(error, fields, stack === undefined ? { name } : { name, stack })
}
