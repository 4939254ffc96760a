/** What is known of a call. */
import { Ending } from "../../parts/CallCells.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { CallCost, Cost, namesOf } from "../../parts/Costs.tsx"
import { Bytes, Duration, Fact, Time, Tokens } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import { Rebuilt, SpanFacts } from "../../parts/Rebuilt.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { CallState } from "../../server/useCall.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Copy from "../../text/Copy.ts"
import * as Format from "../../text/Format.ts"
import { plain } from "../../text/Hidden.ts"
import * as Names from "../../text/Names.ts"
import * as Failure from "../../text/Failure.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

const FingerprintLink = ({ id }: { readonly id: string }) => {
  const { value } = useAnswer((signal) => api.getFingerprint({ fingerprint_id: id }, { signal }), id)
  const text = value === undefined ? id.slice(0, 8) : Names.ofRuntime(value)
  return (
    <a href={Route.to(["fingerprints", id])} title={id}>
      <Plain text={text} />
    </a>
  )
}

const unpriced: Readonly<Record<string, string>> = {
  "no-model": "it names no model",
  "no-usage": "no usage: it says nothing of its tokens",
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
    <Fact name="Began">{call.occurred_at !== null && <Time at={call.occurred_at} />}</Fact>
    <Fact name="Took">
      <Duration ms={call.duration_ms} />
    </Fact>
    <Fact name="First token">{call.first_token_ms !== null && <Duration ms={call.first_token_ms} />}</Fact>
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
    <Fact name="By the list">{call.list_cost_usd !== null && <Cost usd={call.list_cost_usd} />}</Fact>
    <Fact name="Price of">{call.price !== null && <Plain text={call.price} />}</Fact>
    <Fact name="Without">
      {call.unpriced_parts !== null && call.unpriced_parts.length > 0 && (
        <>
          {namesOf(call.unpriced_parts)}
          <small> the price list has no price for it</small>
        </>
      )}
    </Fact>
  </>
)

const Ends = ({ call }: { readonly call: Call }) => (
  <>
    <Fact name="Stopped">
      <Ending reason={call.stop_reason ?? call.provider_stop_reason} />
      {call.provider_stop_reason !== null && (
        <small>
          {" "}
          <Plain text={call.provider_stop_reason} />
        </small>
      )}
    </Fact>
    <Fact name="Error">
      {call.error_type !== null && (
        <span class="bad">
          <Plain text={Failure.ofCall(call)} />
        </span>
      )}
    </Fact>
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
      <Plain as="span" title={plain(call.api)} text={Names.ofApi(call.api)} /> <Rebuilt call={call} />
    </Fact>
    <SpanFacts call={call} />
  </>
)

const Named = ({ call }: { readonly call: Call }) => (
  <>
    <Fact name="Agent">
      <Colored name={call.agent}>
        <Link to={Route.to(["agents", call.agent])} text={call.agent} />
      </Colored>
    </Fact>
    <Fact name="Version">
      <Colored name={call.agent_version}>
        <Link to={Route.to(["agents", call.agent], { version: call.agent_version })} text={call.agent_version} />
      </Colored>
    </Fact>
    <Fact name="Person">
      {call.person !== null && <Link to={Route.to(["people", call.person])} text={call.person} />}
    </Fact>
    <Fact name="Runtime">
      <FingerprintLink id={call.fingerprint_id} />
    </Fact>
    <Fact name="Trace">{call.trace_id !== null && <Plain as="code" text={call.trace_id} />}</Fact>
  </>
)

export const EventFacts = ({ state: { call, fresh, output } }: { readonly state: CallState }) => (
  <aside class="side" aria-label="Facts of the call">
    <dl class="facts">
      <Times call={call} />
      <Fact name="Model">
        <Colored name={call.model ?? ""}>
          <Plain text={call.model ?? "–"} />
        </Colored>
      </Fact>
      <Fact name="Answered by">
        {call.response_model !== null && call.response_model !== call.model && <Plain text={call.response_model} />}
      </Fact>
      <Costs call={call} />
      <Ends call={call} />
      <Payload call={call} />
      <Named call={call} />
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
