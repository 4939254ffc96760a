/** What could have come from the provider's cache, what did, the first thing that differs, and what that cost. */
import * as Route from "../../route/Route.ts"
import type { Call, Message } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { lostOf, missOf, sentBeforeOf } from "./CacheMiss.ts"
import { timeOf } from "./Items.ts"
import * as Links from "./Links.ts"
import type { Rates } from "./Rates.ts"

interface Props {
  readonly call: Call
  readonly parent: Call | undefined
  readonly messages: ReadonlyArray<Message>
  readonly rates: ReadonlyMap<string, Rates>
  readonly shown: Links.Shown
}

const Changed = ({ call, what }: { readonly call: Call; readonly what: string }) => (
  <>
    The <a href={Route.to(["events", call.event_id], { tab: "settings", diff: 1 })}>{what} changed</a>: everything after
    them had to be read again.
  </>
)

export const CacheLens = ({ call, messages, parent, rates, shown }: Props) => {
  if (parent === undefined) return <p>The first call of its thread: nothing could come from the cache.</p>
  const reported = call.cache_read_tokens
  const gapMs = Date.parse(timeOf(call)) - Date.parse(timeOf(parent))
  const sentBefore = sentBeforeOf(call, parent)
  const miss = missOf(call, parent, gapMs)
  const lost = miss && lostOf(miss, call, rates.get(call.price ?? ""))
  const first = messages.find(({ number }) => number === call.gone_messages[0])
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Sent before</dt>
          <dd>
            {call.gone_messages.length > 0 && `${Format.count(call.kept_messages)} messages, `}
            {sentBefore === undefined ? "tokens unknown" : `${Format.count(sentBefore)} tokens`}
          </dd>
        </div>
        <div>
          <dt>From the cache</dt>
          <dd>{reported === null ? "nothing said" : `${Format.count(reported)} tokens`}</dd>
        </div>
        <div>
          <dt>Since the call before</dt>
          <dd>{Format.duration(gapMs)}</dd>
        </div>
      </dl>
      {miss !== undefined && (
        <p class="warn missed">
          {Format.count(miss.tokens)} tokens were paid in full
          {lost !== undefined && (
            <>
              , <b title="By the rates of this session's calls">{Format.dollars(String(lost))}</b> more than from the
              cache
            </>
          )}
          . {miss.reason === "time" && `${Format.duration(gapMs)} had passed, and caches are kept for minutes.`}
          {miss.reason === "unknown" && "All that the call before had sent was sent again, and soon."}
        </p>
      )}
      {call.model !== parent.model && (
        <p class="warn">
          The model changed from <Plain text={parent.model ?? "none"} /> to <Plain text={call.model ?? "none"} />: each
          has a cache of its own.
        </p>
      )}
      {call.tools_changed && (
        <p class="warn">
          <Changed call={call} what="tools" />
        </p>
      )}
      {call.instructions_changed && (
        <p class="warn">
          <Changed call={call} what="instructions" />
        </p>
      )}
      {call.parameters_changed && (
        <p class="warn">
          The <a href={Route.to(["events", call.event_id], { tab: "settings", diff: 1 })}>settings changed</a>: some of
          them make providers read everything again.
        </p>
      )}
      {first !== undefined && (
        <p class="warn">
          The first message that differs is <a href={Links.toMessage(first, shown)}>#{first.number}</a>:{" "}
          <Plain text={Words.line(Words.ofMessage(first), 80)} />
        </p>
      )}
    </>
  )
}
