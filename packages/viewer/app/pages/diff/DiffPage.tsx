/** `#/diff/sessions?a=…&b=…` and `#/diff/calls?a=…&b=…`: two sessions, or two calls, side by side. */
import { compare, countsOf } from "@tachograph/client/compare"
import { useEffect, useMemo, useState } from "preact/hooks"
import { ConversationSettings } from "../../diff/ConversationSettings.tsx"
import { PageHelp } from "../../help/PageHelp.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { More } from "../../parts/More.tsx"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import * as Format from "../../text/Format.ts"
import { Chooser } from "./Chooser.tsx"
import { Facts } from "./Facts.tsx"
import { Rows } from "./Rows.tsx"
import { type Kind, type Side, useSide } from "./useSide.ts"

/** Rows that are drawn at first, and with each step down. */
const step = 10

/** Goes to the next difference below what is seen, or to the one above. */
const goToDifference = (by: 1 | -1): void => {
  const tops = Array.from(document.querySelectorAll(".pair"), (pair) => pair.getBoundingClientRect().top)
  const margin = 80
  const at = by === 1 ? tops.findIndex((top) => top > margin + 1) : tops.findLastIndex((top) => top < margin - 1)
  if (at !== -1) scrollBy({ top: tops[at]! - margin })
}

const named: Readonly<Record<Kind, string>> = { sessions: "sessions", calls: "calls" }

const kindOf = (name: string): Kind | undefined => (name === "sessions" || name === "calls" ? name : undefined)

export const DiffPage = ({ query, rest }: PageProps) => {
  const kind = kindOf(rest[0]!)
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""]
  useEffect(() => void (document.title = "Two compared · Tachograph"), [])
  useKeys([
    { keys: "n", does: "Next difference", run: () => goToDifference(1) },
    { keys: "p", does: "Previous difference", run: () => goToDifference(-1) },
    {
      keys: "Escape",
      does: "Back",
      run: () =>
        Route.back(
          Route.to(a === "" ? ["sessions"] : [kind === "calls" ? "events" : "sessions", a]),
          ([page]) => page !== "diff"
        )
    }
  ])
  if (kind === undefined || a === "") return <Empty title="Nothing is chosen to be compared" isWhole />
  return (
    <section class="page">
      <div class="page-head">
        <h1>
          {b === "" ? `Compare this ${kind === "calls" ? "call" : "session"} with…` : `Two ${named[kind]}, compared`}
        </h1>
        <PageHelp />
        {b !== "" && (
          <p>
            <a href={Route.to(["diff", kind], { a: b, b: a })}>Swap A and B</a> ·{" "}
            <a href={Route.to(["diff", kind], { a })}>Compare A with another…</a>
          </p>
        )}
      </div>
      {b === "" ? <Chooser key={a} kind={kind} id={a} /> : <Both key={`${a} ${b}`} kind={kind} ids={[a, b]} />}
    </section>
  )
}

const Both = ({ ids, kind }: { readonly kind: Kind; readonly ids: readonly [a: string, b: string] }) => {
  const [isAsked, setAsked] = useState(false)
  const before = useSide(kind, ids[0], isAsked)
  const after = useSide(kind, ids[1], isAsked)
  const failed = [before, after].find(({ error }) => error !== undefined)
  if (failed !== undefined) return <Failed error={failed.error!} again={failed.again} />
  if (before.value === undefined || after.value === undefined) return <Loading what="both" />
  const large = (before.value.largeBytes ?? 0) + (after.value.largeBytes ?? 0)
  return (
    <>
      <Facts before={before.value} after={after.value} />
      {large > 0 && !isAsked ? (
        <Empty title={`These calls have ${Format.bytes(large)}`}>
          <button type="button" onClick={() => setAsked(true)}>
            Compare what they say
          </button>
        </Empty>
      ) : (
        <Contents kind={kind} before={before.value} after={after.value} />
      )}
    </>
  )
}

interface Props {
  readonly kind: Kind
  readonly before: Side
  readonly after: Side
}

const Contents = ({ after, before, kind }: Props) => (
  <>
    {kind === "sessions" && <p class="hint">Instructions, tools and parameters are those of the first call of each.</p>}
    {before.settings === undefined || after.settings === undefined ? (
      <p class="hint">The settings of one of them cannot be read.</p>
    ) : (
      <ConversationSettings before={before.settings} after={after.settings} />
    )}
    <h2>Messages</h2>
    <Conversations before={before} after={after} />
  </>
)

/** How far a session is loaded, where that is not all of it. */
const loadedOf = (side: Side, name: string): ReadonlyArray<string> =>
  side.next === null ? [] : [`the first ${Format.count(side.messages.length)} messages of ${name}`]

const Conversations = ({ after, before }: Omit<Props, "kind">) => {
  const rows = useMemo(() => compare(before.messages, after.messages), [before.messages, after.messages])
  const [shown, setShown] = useState(step)
  const counts = countsOf(rows)
  const loaded = [...loadedOf(before, "A"), ...loadedOf(after, "B")].join(" and ")
  const isReading = before.isReading === true || after.isReading === true
  const error = before.error ?? after.error
  const load = () => {
    void before.more()
    void after.more()
  }
  return (
    <>
      <div class="hint counted">
        <span role="status">
          {Format.counted(counts.equal, "equal message")}, {Format.count(counts.different)} different,{" "}
          {Format.count(counts["only-before"])} only in A, {Format.count(counts["only-after"])} only in B
          {loaded !== "" && ` in what is loaded: ${loaded}`}.
        </span>{" "}
        {loaded !== "" && (
          <button type="button" class="link" disabled={isReading} onClick={load}>
            Load the next ones
          </button>
        )}
      </div>
      <div class="compared">
        <Rows rows={rows.slice(0, shown)} />
      </div>
      <More
        pages={{
          hasMore: shown < rows.length,
          more: () => setShown(shown + step),
          moreError: undefined,
          isReadingMore: false
        }}
      />
      {shown >= rows.length && loaded !== "" && (
        <div class="state">
          <p>Only {loaded} are loaded: what follows is not compared.</p>
          {error !== undefined && <Failed error={error} />}
          <button type="button" disabled={isReading} onClick={load}>
            {isReading ? "Loading…" : "Load more"}
          </button>
        </div>
      )}
    </>
  )
}
