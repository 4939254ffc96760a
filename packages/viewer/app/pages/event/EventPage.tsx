/** `#/events/{id}`: one call. What it added first; then all that it sent, what was answered, its settings, and the bytes. */
import { useEffect } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { Damaged } from "../../parts/Damaged.tsx"
import { Exact } from "../../parts/bytes/Exact.tsx"
import { FailedCall } from "../../parts/FailedCall.tsx"
import { Link } from "../../parts/Link.tsx"
import { RebuiltHint } from "../../parts/Rebuilt.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { Tabs } from "../../parts/Tabs.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Reading from "../../settings/Reading.ts"
import * as Copy from "../../text/Copy.ts"
import * as Format from "../../text/Format.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { CompareWith } from "./CompareWith.tsx"
import { ConversationTabs } from "./ConversationTabs.tsx"
import { EventFacts } from "./EventFacts.tsx"
import { JsonTab } from "./JsonTab.tsx"
import { NoAnswer } from "./NoAnswer.tsx"
import { Messages } from "../../parts/message/Messages.tsx"
import { type CallState, useCall } from "../../server/useCall.ts"

const tabs = [
  ["new", "New"],
  ["input", "Full input"],
  ["answer", "Answer"],
  ["settings", "Settings"],
  ["json", "JSON"],
  ["raw", "Raw"]
] as const

type Text = "inputs" | "output"

type Tab = (typeof tabs)[number][0]

const tabOf = (query: URLSearchParams): Tab => tabs.find(([name]) => name === query.get("tab"))?.[0] ?? "new"

const show = (tab: Tab) => Route.amend({ tab: tab === "new" ? null : tab })

/** What is shown of a call. */
const shownOf = (query: URLSearchParams) => ({
  tab: tabOf(query),
  isDiff: query.get("diff") === "1",
  text: query.get("of") === "output" ? ("output" as const) : ("inputs" as const)
})

type Shown = ReturnType<typeof shownOf>

const goTo = (event: string | null | undefined, query: URLSearchParams) =>
  typeof event === "string" &&
  Route.go(Route.to(["events", event], { tab: query.get("tab"), diff: query.get("diff"), of: query.get("of") }))

const toggleDiff = (isDiff: boolean) => Route.amend({ tab: "settings", diff: isDiff ? null : "1" })

const useEventKeys = (id: string, value: CallState | undefined, query: URLSearchParams): void => {
  const { isDiff, tab } = shownOf(query)
  const back = () =>
    Route.back(
      value === undefined ? Route.to(["sessions"]) : Route.to(["sessions", value.call.session], { call: id }),
      ([page]) => page !== "events"
    )
  useKeys([
    { keys: "n", does: "Next call of the session", run: () => goTo(value?.next, query) },
    { keys: "p", does: "Previous call of the session", run: () => goTo(value?.previous, query) },
    { keys: "f", does: "What is new, or all that was sent", run: () => show(tab === "input" ? "new" : "input") },
    { keys: "d", does: "Settings compared with the call before", run: () => toggleDiff(isDiff) },
    ...tabs.map(([name, title], index) => ({ keys: String(index + 1), does: title, run: () => show(name) })),
    ...Reading.switches,
    { keys: "Escape", does: "Back", run: back },
    { keys: "c i", does: "Copy the id", run: () => Copy.text(id) },
    { keys: "c l", does: "Copy the link", run: () => Copy.text(location.href) },
    {
      keys: "c b",
      does: "Copy the text of what is new",
      run: () => value !== undefined && Copy.text(Words.ofMessages([...value.fresh, ...value.output]))
    },
    { keys: "c j", does: "Copy the JSON of the call", run: () => Copy.event(id) },
    { keys: "c u", does: "Copy a curl command", run: () => Copy.curl(["events", id]) }
  ])
}

export const EventPage = ({ query, rest }: PageProps) => {
  const id = rest[0]!
  const { again, error, value } = useCall(id)
  useEventKeys(id, value, query)
  useEffect(() => void (document.title = `Call ${plain(id)} · Tachograph`), [id])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the call" />
  const shown = shownOf(query)
  return (
    <div class="event">
      <EventHead id={id} state={value} query={query} />
      <div class="event-columns">
        <div class="event-main">
          <Tabs
            label="The call"
            tabs={tabs.map(([id, name], index) => ({ id, name, hint: `${name} (${index + 1})` }))}
            selected={shown.tab}
            panel="tab-panel"
            show={show}
          />
          <Panel id={id} state={value} shown={shown} />
        </div>
        <EventFacts state={value} />
      </div>
    </div>
  )
}

interface HeadProps {
  readonly id: string
  readonly state: CallState
  readonly query: URLSearchParams
}

const EventHead = ({ id, query, state, state: { call, next, previous } }: HeadProps) => (
  <header class="event-head">
    <p class="crumbs">
      <Link to={Route.to(["sessions", call.session], { call: id })} text={Words.line(call.session, 60)} />
    </p>
    <h1>
      Call <Plain as="code" text={id} />
    </h1>
    <PageHelp />
    <nav class="neighbours" aria-label="Calls of the session">
      <button type="button" disabled={previous === undefined} onClick={() => goTo(previous, query)}>
        ← Previous
      </button>
      <button type="button" disabled={next === undefined} onClick={() => goTo(next, query)}>
        Next →
      </button>
    </nav>
    <CompareWith state={state} />
    <RebuiltHint call={call} />
    {call.error_type !== null && (
      <p class="failure" role="status">
        <FailedCall call={call} />{" "}
        <a href={Route.to(["failures"], { session: call.session })}>All failures of its session</a>
      </p>
    )}
    {call.retry_of !== null && (
      <p class="hint">
        It is a retry of <a href={Route.to(["events", call.retry_of])}>a call that failed</a>, with the same request.
      </p>
    )}
  </header>
)

interface PanelProps {
  readonly id: string
  readonly state: CallState
  readonly shown: Shown
}

const Panel = ({ id, shown: { isDiff, tab, text }, state }: PanelProps) => (
  // It scrolls, and may hold nothing that takes the focus.
  <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} class={`panel ${tab}`} tabIndex={0}>
    {(tab === "json" || tab === "raw") && <Which text={text} call={state} />}
    {tab === "new" && <New state={state} />}
    {tab === "settings" && state.call.parent_event_id !== null && (
      <label class="check">
        <input type="checkbox" checked={isDiff} onChange={() => toggleDiff(isDiff)} />
        Compare with the call before
      </label>
    )}
    {(tab === "input" || tab === "answer" || tab === "settings") && (
      <ConversationTabs call={state.call} tab={tab} isDiff={isDiff} />
    )}
    {tab === "json" && <JsonTab key={text} parts={["events", id, text]} />}
    {tab === "raw" && <Exact key={text} parts={["events", id, text]} />}
  </div>
)

const Which = ({ call: { call }, text }: { readonly text: Text; readonly call: CallState }) => (
  <div class="which" role="group" aria-label="Which text">
    {(["inputs", "output"] as const).map((each) => (
      <button
        key={each}
        type="button"
        class="quiet"
        aria-pressed={text === each}
        onClick={() => Route.amend({ of: each === "inputs" ? null : each })}
      >
        {each === "inputs" ? "Inputs" : "Output"}{" "}
        <small>{Format.bytes(each === "inputs" ? call.inputs_bytes : call.output_bytes)}</small>
      </button>
    ))}
  </div>
)

const New = ({ state: { call, fresh, gone, output } }: { readonly state: CallState }) => {
  if (call.is_damaged) return <Damaged />
  const isAnswered = output.length > 0 || call.error_type === null
  if (isAnswered && fresh.length + output.length + gone.length === 0) {
    return <Empty title="This call added no message" />
  }
  return (
    <>
      {gone.length > 0 && (
        <>
          <p class="rewrite">
            History rewritten: {Format.counted(gone.length, "message")} gone, {call.kept_messages} kept
          </p>
          <details class="gone">
            <summary>What is gone</summary>
            <Messages messages={gone} />
          </details>
        </>
      )}
      {call.parent_event_id !== null && (
        <p class="hint">
          It continues <a href={Route.to(["events", call.parent_event_id])}>the call before</a>, of which it kept{" "}
          {call.kept_messages} {call.kept_messages === 1 ? "message" : "messages"}.
        </p>
      )}
      <Messages messages={[...fresh, ...output]} />
      {!isAnswered && <NoAnswer call={call} />}
    </>
  )
}
