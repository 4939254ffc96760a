/** What an application says of its calls beside their names. No call is lost for what an event cannot have: it is left out. */
import * as Utf8 from "../platform/Utf8.ts"
import { isObject } from "./Event.ts"

export interface Details {
  /** What the application wants to keep with a call: at most 16 KiB of JSON. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The trace that a call is part of: 32 hexadecimal digits, as of OpenTelemetry. */
  readonly traceId?: string | undefined
  /** The span that a call is made in: 16 hexadecimal digits. */
  readonly spanId?: string | undefined
}

/** Prints a message once. */
type Warn = (what: string, cause: undefined, where: "") => void

const maxMetadataBytes = 16 * 1024

/** Undefined, with a warning, where it is longer than an event may have. */
export const fitting = (metadata: Details["metadata"], warn: Warn): Details["metadata"] => {
  if (metadata === undefined || Utf8.bytesOf(JSON.stringify(metadata)).length <= maxMetadataBytes) return metadata
  warn("metadata of more than 16 KiB of JSON is left out", undefined, "")
  return undefined
}

/** A copy: the application may change its values afterwards. */
const copyOf = (metadata: unknown, warn: Warn): Details["metadata"] => {
  let copy: unknown
  try {
    copy = JSON.parse(JSON.stringify(metadata))
  } catch {}
  if (isObject(copy)) return fitting(copy, warn)
  warn("metadata that is no object, or has no JSON text, is left out", undefined, "")
  return undefined
}

/** OpenTelemetry gives an id of zeros where there is no trace. */
const idOf = (name: "traceId" | "spanId", digits: number, id: unknown, warn: Warn): string | undefined => {
  if (id === "" || id === "0".repeat(digits)) return ""
  if (typeof id === "string" && id.length === digits && /^[0-9a-f]+$/.test(id)) return id
  warn(`${name} is left out: expected ${digits} hexadecimal digits in lower case`, undefined, "")
  return undefined
}

/** The same fields, of which those are undefined that no event can have. What is null or empty takes away what is around it. */
export const checked = <A extends Details>(given: A, warn: Warn): A => {
  const { metadata, spanId, traceId } = given
  if (metadata === undefined && traceId === undefined && spanId === undefined) return given
  return {
    ...given,
    metadata: metadata && copyOf(metadata, warn),
    traceId: traceId && idOf("traceId", 32, traceId, warn),
    spanId: spanId && idOf("spanId", 16, spanId, warn)
  }
}
