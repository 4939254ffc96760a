/** What is known of a call. */
import type { ComponentChildren } from "preact"
import { CallCost, Cost, namesOf } from "../../parts/Costs.tsx"
import { Bytes, Duration, Time, Tokens } from "../../parts/Facts.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { CallState } from "../../server/useCall.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Copy from "../../text/Copy.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

const Fact = ({ children, name }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const FingerprintLink = ({ id }: { readonly id: string }) => {
  const { value } = useAnswer((signal) => api.getFingerprint({ fingerprint_id: id }, { signal }), id)
  const text =
    value === undefined
      ? id.slice(0, 8)
      : [value.language, value.language_version, value.system].filter(Boolean).join(" ")
  return (
    <a href={Route.to(["fingerprints", id])} title={id}>
      <Plain text={text} />
    </a>
  )
}

const unpriced: Readonly<Record<string, string>> = {
  "no-model": "it names no model",
  "no-usage": "it says nothing of its tokens",
  "usage-invalid": "its tokens contradict each other",
  "unknown-model": "the price list lacks the model",
  "service-tier": "the price list lacks its service tier"
}

type Call = CallState["call"]

const Times = ({ call }: { readonly call: Call }) => (
  <>
    <Fact name="Recorded">
      <Time at={call.received_at} />
    </Fact>
    {call.occurred_at !== null && (
      <Fact name="Began">
        <Time at={call.occurred_at} />
      </Fact>
    )}
    <Fact name="Took">
      <Duration ms={call.duration_ms} />
    </Fact>
    {call.first_token_ms !== null && (
      <Fact name="First token">
        <Duration ms={call.first_token_ms} />
      </Fact>
    )}
  </>
)

const Costs = ({ call }: { readonly call: Call }) => (
  <>
    <Fact name="Tokens">
      <Tokens input={call.input_tokens} cached={call.cache_read_tokens} output={call.output_tokens} />
    </Fact>
    <Fact name="Cost">
      <CallCost call={call} />
      {call.stated_cost_usd !== null && <small> as the answer says</small>}
      {call.unpriced !== null && (
        <small>
          {" "}
          <Plain text={unpriced[call.unpriced] ?? call.unpriced} />
        </small>
      )}
    </Fact>
    {call.list_cost_usd !== null && (
      <Fact name="By the list">
        <Cost usd={call.list_cost_usd} />
      </Fact>
    )}
    {call.price !== null && (
      <Fact name="Price of">
        <Plain text={call.price} />
      </Fact>
    )}
    {call.unpriced_parts !== null && call.unpriced_parts.length > 0 && (
      <Fact name="Without">
        {namesOf(call.unpriced_parts)}
        <small> the price list has no price for it</small>
      </Fact>
    )}
  </>
)

const Ends = ({ call }: { readonly call: Call }) => (
  <>
    <Fact name="Stopped">
      <Plain text={call.stop_reason ?? "–"} />
      {call.provider_stop_reason !== null && call.provider_stop_reason !== call.stop_reason && (
        <small>
          {" "}
          <Plain text={call.provider_stop_reason} />
        </small>
      )}
    </Fact>
    {call.error_type !== null && (
      <Fact name="Error">
        <span class="bad">
          <Plain text={call.error_type} /> {call.error_status ?? call.http_status}
        </span>
      </Fact>
    )}
  </>
)

const Payload = ({ call }: { readonly call: Call }) => (
  <>
    {call.recorded?.redacted !== undefined && call.recorded.redacted > 0 && (
      <Fact name="Masked">{Format.counted(call.recorded.redacted, "part")}</Fact>
    )}
    <Fact name="Inputs">
      <Bytes value={call.inputs_bytes} />
    </Fact>
    <Fact name="Output">
      <Bytes value={call.output_bytes} />
    </Fact>
    <Fact name="Format">
      <Plain text={call.api} />
    </Fact>
  </>
)

const Names = ({ call }: { readonly call: Call }) => (
  <>
    <Fact name="Agent">
      <a href={Route.to(["agents", call.agent])}>
        <Plain text={`${call.agent} ${call.agent_version}`} />
      </a>
    </Fact>
    {call.person !== null && (
      <Fact name="Person">
        <a href={Route.to(["people", call.person])}>
          <Plain text={call.person} />
        </a>
      </Fact>
    )}
    <Fact name="Fingerprint">
      <FingerprintLink id={call.fingerprint_id} />
    </Fact>
    {call.trace_id !== null && (
      <Fact name="Trace">
        <code>
          <Plain text={call.trace_id} />
        </code>
      </Fact>
    )}
  </>
)

export const EventFacts = ({ state: { call, fresh, output } }: { readonly state: CallState }) => (
  <aside class="side" aria-label="Facts of the call">
    <dl class="facts">
      <Times call={call} />
      <Fact name="Model">
        <Plain text={call.model ?? "–"} />
      </Fact>
      {call.response_model !== null && call.response_model !== call.model && (
        <Fact name="Answered by">
          <Plain text={call.response_model} />
        </Fact>
      )}
      <Costs call={call} />
      <Ends call={call} />
      <Payload call={call} />
      <Names call={call} />
    </dl>
    <div class="copies">
      <button type="button" onClick={() => void Copy.text(call.event_id)}>
        Copy id
      </button>
      <button type="button" onClick={() => void Copy.text(location.href)}>
        Copy link
      </button>
      <button type="button" onClick={() => void Copy.text(Words.ofMessages([...fresh, ...output]))}>
        Copy text
      </button>
      <button type="button" onClick={() => void Copy.event(call.event_id)}>
        Copy JSON
      </button>
      <button type="button" onClick={() => void Copy.curl(["events", call.event_id])}>
        Copy curl
      </button>
    </div>
  </aside>
)
