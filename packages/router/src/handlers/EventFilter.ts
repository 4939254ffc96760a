/** The filters of events in a query, as the recorder takes them. */
import type { Events } from "@tachograph/api"
import type { EventFilterQuery } from "@tachograph/core"
import { StopReason } from "@tachograph/core/domain/CallFacts"
import * as Schema from "effect/Schema"

type Parameters = Schema.Struct<typeof Events.filters>["Type"]

const isStopReason = Schema.is(StopReason)

/** A reason in the words of all providers, or in the provider's own. */
const stopReasonOf = (word: string | undefined) =>
  isStopReason(word) ? { stopReason: word } : { providerStopReason: word }

export const of = (query: Parameters): EventFilterQuery => ({
  session: query.session,
  agent: query.agent,
  agentVersion: query.agent_version,
  person: query.person,
  fields: {
    fingerprintId: query.fingerprint,
    api: query.api,
    model: query.model,
    ...stopReasonOf(query.stop_reason),
    isError: query.error === undefined ? undefined : query.error === "true",
    failure: query.failure,
    traceId: query.trace_id
  },
  from: query.after?.in(),
  to: query.before?.in(),
  receivedFrom: query.received_after?.in(),
  receivedTo: query.received_before?.in()
})
