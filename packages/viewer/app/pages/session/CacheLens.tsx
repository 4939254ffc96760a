/** What could have come from the provider's cache, what did, the first thing that differs, and what that cost. */
import { Fact } from "../../parts/Facts.tsx"
import * as Route from "../../route/Route.ts"
import type { Call, Message } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { firstDifference } from "../../text/firstDifference.ts"
import { lostOf, missOf, sentBeforeOf } from "./CacheMiss.ts"
import type { FirstChange } from "./FirstChange.ts"
import { timeOf } from "./StreamItems.ts"
import * as Links from "./Links.ts"
import { SettingsPlace } from "./SettingsPlace.tsx"

interface Props {
  readonly call: Call
  readonly parent: Call | undefined
  readonly messages: ReadonlyArray<Message>
  readonly shown: Links.Shown
  readonly change: FirstChange | undefined
}

interface ChangedProps {
  readonly call: Call
  readonly parent: Call
  readonly what: "instructions" | "tools"
}

const Changed = ({ call, parent, what }: ChangedProps) => (
  <p class="warn">
    The <a href={Route.to(["events", call.event_id], { tab: "settings", diff: 1 })}>{what} changed</a>
    <SettingsPlace call={call} parent={parent} of={what} />: everything after that had to be read again. What comes
    before could have been read from the cache.
  </p>
)

const characterOf = (before: Message, after: Message | undefined): string => {
  const at = after && firstDifference(Words.ofMessage(before), Words.ofMessage(after))
  return at === undefined ? "" : `, at character ${Format.count(at)}`
}

export const CacheLens = ({ call, change, messages, parent, shown }: Props) => {
  if (parent === undefined) return <p>The first call of its thread: nothing could come from the cache.</p>
  const reported = call.cache_read_tokens
  const gapMs = Date.parse(timeOf(call)) - Date.parse(timeOf(parent))
  const sentBefore = sentBeforeOf(call, parent)
  const miss = missOf(call, parent, gapMs)
  const lost = miss && lostOf(miss, call)
  const messageOf = (number: number | undefined) => messages.find((message) => message.number === number)
  // The place of changed instructions is named above.
  const place = call.instructions_changed ? undefined : change
  const first = messageOf(place?.before ?? call.gone_messages[0])
  return (
    <>
      <dl class="facts">
        <Fact name="Sent before">
          {call.gone_messages.length > 0 && `${Format.count(call.kept_messages)} messages, `}
          {sentBefore === undefined ? "tokens unknown" : `${Format.count(sentBefore)} tokens`}
        </Fact>
        <Fact name="From the cache">{reported === null ? "nothing said" : `${Format.count(reported)} tokens`}</Fact>
        <Fact name="Since the call before">{Format.duration(gapMs)}</Fact>
      </dl>
      {miss !== undefined && (
        <p class="warn missed">
          {Format.count(miss.tokens)} tokens were paid in full
          {lost !== undefined && (
            <>
              , <b title="By the price list">{Format.dollars(String(lost))}</b> more than from the cache
            </>
          )}
          .{" "}
          {miss.reason === "time" &&
            `No settings changed, and ${Format.duration(gapMs)} had passed: the cache had probably expired.`}
          {miss.reason === "unknown" && "No settings changed, and soon: why is not known."}
        </p>
      )}
      {(miss?.reason === "time" || miss?.reason === "unknown") && (
        <SettingsPlace call={call} parent={parent} of="noise" />
      )}
      {call.model !== parent.model && (
        <p class="warn">
          The model changed from <Plain text={parent.model ?? "none"} /> to <Plain text={call.model ?? "none"} />: each
          has a cache of its own.
        </p>
      )}
      {call.tools_changed && <Changed call={call} parent={parent} what="tools" />}
      {call.instructions_changed && <Changed call={call} parent={parent} what="instructions" />}
      {call.parameters_changed && (
        <p class="warn">
          The <a href={Route.to(["events", call.event_id], { tab: "settings", diff: 1 })}>settings changed</a>: some of
          them may make a provider read everything again.
        </p>
      )}
      {first !== undefined && (
        <p class="warn">
          The first message that differs is <a href={Links.toMessage(first, shown)}>#{first.number}</a>
          {place !== undefined && characterOf(first, messageOf(place.after))}:{" "}
          <Plain text={Words.line(Words.ofMessage(first), 80)} />
        </p>
      )}
    </>
  )
}
