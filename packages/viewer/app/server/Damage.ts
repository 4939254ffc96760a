/**
 * Reads past damaged events: a list whose page has one is answered 500 `event-damaged`, which names it. So smaller pages are asked
 * for, until one ends before it, or is that event alone.
 */
import { ServerError } from "./Client.ts"
import type { Call, ListedEvent } from "./Types.ts"

/** A call of which nothing is known but its id. */
export interface Damaged {
  readonly damaged: string
}

/** The answer, and how many rows it was asked for. `read` is given how many rows the page may have. */
export const readPage = async <A extends object>(
  read: (limit: number) => Promise<A>,
  limit: number
): Promise<{ readonly page: A | Damaged; readonly limit: number }> => {
  for (let rows = limit; ; rows = Math.ceil(rows / 2)) {
    try {
      return { page: await read(rows), limit: rows }
    } catch (error) {
      if (!(error instanceof ServerError) || error.type !== "event-damaged" || error.eventId === undefined) throw error
      if (rows === 1) return { page: { damaged: error.eventId }, limit: 1 }
    }
  }
}

export const isDamaged = (page: object): page is Damaged => "damaged" in page

/** The time in an event's id (UUIDv7), in milliseconds. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace("-", ""), 16)

export const iso = (ms: number): string => new Date(ms).toISOString()

/** Stands where a damaged event would. Its id says when it was recorded. */
export const summaryOf = (id: string, session = ""): ListedEvent & { readonly is_damaged: true } => ({
  event_id: id,
  received_at: iso(timeOf(id)),
  // Every event has one, and that of this one is not known.
  api: "" as ListedEvent["api"],
  fingerprint_id: "",
  agent: "",
  agent_version: "",
  person: null,
  session,
  occurred_at: null,
  duration_ms: null,
  first_token_ms: null,
  http_status: null,
  trace_id: null,
  span_id: null,
  recorded: null,
  provider: null,
  model: null,
  response_model: null,
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
  stop_reason: null,
  provider_stop_reason: null,
  tool_calls: null,
  error_type: null,
  error_code: null,
  error_status: null,
  cost_usd: null,
  stated_cost_usd: null,
  list_cost_usd: null,
  price: null,
  price_is_exact: null,
  unpriced_parts: null,
  unpriced: null,
  inputs_bytes: 0,
  output_bytes: 0,
  is_damaged: true
})

export const callOf = (id: string, session: string): Call => ({
  ...summaryOf(id, session),
  parent_event_id: null,
  error_message: null,
  retry_of: null,
  retried_by: null,
  kept_messages: 0,
  new_messages: [],
  gone_messages: [],
  output: [],
  carried: { kept: 0, runs: [] },
  instruction_messages: [],
  instruction_characters: null,
  instructions_changed: false,
  tools_changed: false,
  parameters_changed: false,
  input_prices: null
})
