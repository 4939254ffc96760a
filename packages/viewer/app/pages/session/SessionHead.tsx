/** What the session is, and how its stream is shown. */
import { Fragment } from "preact"
import { PageHelp } from "../../help/PageHelp.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { SumCost } from "../../parts/Costs.tsx"
import { Bytes, Time, Tokens } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import * as Route from "../../route/Route.ts"
import * as Reading from "../../settings/Reading.ts"
import type { Session } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import type { Thread } from "./Threads.ts"
import { show, type View } from "./View.ts"

interface Props {
  readonly session: Session
  readonly threads: ReadonlyArray<Thread>
  readonly thread: number | undefined
  readonly view: View
  /** Whether the timeline has more than the calls. */
  readonly hasSteps: boolean
  readonly isFollowing: boolean
  readonly isSideOpen: boolean
  readonly openSide: () => void
  readonly follow: () => void
  readonly find: () => void
  readonly nextError: () => void
}

interface ToggleProps {
  readonly name: string
  readonly title?: string
  readonly keys: string
  readonly isOn: boolean
  readonly toggle: () => void
}

/** Whether it is on is seen from its mark. */
const Toggle = ({ isOn, keys, name, title = name, toggle }: ToggleProps) => (
  <button type="button" class="toggle" aria-pressed={isOn} title={`${title} (${keys})`} onClick={toggle}>
    {name}
  </button>
)

const views = [
  { view: "stream", name: "Conversation", keys: "v" },
  { view: "table", name: "Table", keys: "v" },
  { view: "timeline", name: "Timeline", keys: "s" }
] as const

/** One of several. */
const ViewChoice = ({ hasSteps, view }: Pick<Props, "hasSteps" | "view">) => (
  <div class="segments" role="group" aria-label="View">
    {views
      .filter((each) => each.view !== "timeline" || hasSteps || view === "timeline")
      .map((each) => (
        <button
          key={each.view}
          type="button"
          aria-pressed={view === each.view}
          title={`${each.name} (${each.keys})`}
          onClick={() => show(each.view)}
        >
          {each.name}
        </button>
      ))}
  </div>
)

const Links = ({ names, page }: { readonly page: string; readonly names: ReadonlyArray<string> }) => (
  <>
    {names.map((name, index) => (
      <Fragment key={name}>
        {index > 0 && ", "}
        {page === "agents" ? (
          <Colored name={name}>
            <Link to={Route.to([page, name])} text={name} />
          </Colored>
        ) : (
          <Link to={Route.to([page, name])} text={name} />
        )}
      </Fragment>
    ))}
  </>
)

const About = ({ nextError, session }: Pick<Props, "nextError" | "session">) => (
  <p class="about">
    <Plain as="code" text={session.session} />
    <span>
      <b>{Format.count(session.events)}</b> {session.events === 1 ? "call" : "calls"}
    </span>
    {session.errors > 0 && (
      <button type="button" class="link bad" onClick={nextError} title="Go to the next one (e)">
        {Format.count(session.errors)} failed
      </button>
    )}
    <span>
      <Links page="agents" names={session.agents} />
      {session.agent_versions.map((version) => (
        <Fragment key={version}>
          {" "}
          <Colored name={version}>
            <Plain text={version} />
          </Colored>
        </Fragment>
      ))}
    </span>
    {session.people.length > 0 && (
      <span>
        <Links page="people" names={session.people} />
      </span>
    )}
    <Tokens isNamed input={session.input_tokens} cached={session.cache_read_tokens} output={session.output_tokens} />
    <span>
      <SumCost of={session} />
    </span>
    <span
      title={`${Format.count(session.sent_bytes)} bytes of requests and answers, ${Format.count(session.new_bytes)} of them for the first time`}
    >
      <Bytes value={session.sent_bytes} /> of calls from <Time at={session.first_event_at} /> to{" "}
      <Time at={session.last_event_at} />, {Format.percent(session.sent_bytes - session.new_bytes, session.sent_bytes)}{" "}
      repeated
    </span>
    <a href={Route.to(["diff", "sessions"], { a: session.session })}>Compare with…</a>
  </p>
)

const ThreadChoice = ({ thread, threads }: Pick<Props, "thread" | "threads">) => (
  <select
    aria-label="Thread"
    value={thread ?? ""}
    onChange={({ currentTarget }) => Route.amend({ thread: currentTarget.value, call: null, message: null })}
  >
    <option value="">All {threads.length} threads</option>
    {threads.map(({ calls, number }) => (
      <option key={number} value={number}>
        Thread {number}: {Format.counted(calls.length, "call")}
      </option>
    ))}
  </select>
)

const ReadingToggle = ({
  of: { does, keys, name, run, useIsOn }
}: {
  readonly of: (typeof Reading.switches)[number]
}) => <Toggle name={name} title={does} keys={keys} isOn={useIsOn()} toggle={run} />

export const SessionHead = (props: Props) => {
  const { find, follow, hasSteps, isFollowing, isSideOpen, nextError, openSide, session, thread, threads, view } = props
  return (
    <header class="session-head">
      <div class="titles">
        <Plain as="h1" text={session.title === null ? session.session : Words.title(session.title)} />
        <PageHelp />
        <About nextError={nextError} session={session} />
      </div>
      <div class="tools" role="toolbar" aria-label="How the conversation is shown">
        {threads.length > 1 && <ThreadChoice thread={thread} threads={threads} />}
        <ViewChoice hasSteps={hasSteps} view={view} />
        <div class="toggles" role="group" aria-label="Shown">
          {Reading.switches.map((each) => (
            <ReadingToggle key={each.keys} of={each} />
          ))}
          <Toggle name="Follow" title="Follow what is new" keys="l" isOn={isFollowing} toggle={follow} />
        </div>
        <button type="button" title="Find (Ctrl+F)" onClick={find}>
          Find
        </button>
        <button type="button" class="about-it" aria-expanded={isSideOpen} onClick={openSide}>
          Cost and cache
        </button>
      </div>
    </header>
  )
}
