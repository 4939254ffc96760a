/** `#/sessions/{id}`: one growing stream, with the calls as marks. */
import { useEffect, useRef, useState } from "preact/hooks"
import { FindBar } from "../../find/FindBar.tsx"
import { Reconnecting, RestMissing } from "../../parts/Banner.tsx"
import { otlpOf } from "../../parts/Recorded.ts"
import { Empty, Failed, Loading } from "../../parts/States.tsx"
import { useLazy } from "../../parts/useLazy.ts"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { plain } from "../../text/Hidden.ts"
import * as Words from "../../text/Words.ts"
import { CallsTable } from "./CallsTable.tsx"
import { Conversation } from "./Conversation.tsx"
import { SessionHead } from "./SessionHead.tsx"
import { CostPanel } from "./CostPanel.tsx"
import { Strip } from "./Strip.tsx"
import { useArrival } from "./useArrival.ts"
import { useFound } from "./useFound.ts"
import { useSelected } from "./useSelected.ts"
import { useSession } from "./useSession.ts"
import { useSessionKeys } from "./useSessionKeys.ts"
import { useSteps } from "./useSteps.ts"
import { useStream } from "./useStream.ts"
import { viewOf } from "./View.ts"
import type { ListHandle } from "./VirtualList.tsx"

/** How far from its end the list is no longer followed (pixels). */
const followedPixels = 1_600

const loadTimeline = () => import("./Timeline.tsx").then(({ Timeline }) => Timeline)

export const SessionPage = ({ query, rest }: PageProps) => {
  const id = rest[0]!
  const state = useSession(id)
  const { calls, isLoading, messages, session } = state
  const [isFollowing, setFollowing] = useState(false)
  const [isSideOpen, setSideOpen] = useState(false)
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<ListHandle>(null)
  const view = viewOf(query)
  const isStream = view === "stream"
  const thread = Number(query.get("thread")) || undefined

  const steps = useSteps(id, {
    isReady: !isLoading && calls.length > 0,
    version: `${calls.length} ${view === "timeline"}`,
    mayCome: calls.some((call) => otlpOf(call) !== undefined)
  })
  const Timeline = useLazy(loadTimeline, view === "timeline")
  const of = useStream(calls, messages, steps.steps, thread)
  const { carried, shown, stream, threads } = of
  const count = stream.items.length
  const selected = useSelected(query, stream)
  const wanted = `${selected.named} ${thread} ${isStream}`
  const place = { selected: selected.index, wanted, isHidden: !isStream }
  const stay = useArrival({ ...place, scroller, list, count, isLoading, isFollowing })
  const hasSteps = steps.steps.length > 0
  const find = useFound(count, of.wordsAt, scroller, list)
  const follow = () => setFollowing((following) => !following)
  const closeSide = () => setSideOpen(false)
  const keys = useSessionKeys({ id, view, hasSteps, selected, count, find, isSideOpen, closeSide, follow })
  useEffect(() => {
    document.title = `${plain(Words.line(session?.title ?? id, 60))} · Tachograph`
  }, [session, id])

  if (state.error !== undefined && (calls.length === 0 || session === undefined)) {
    return <Failed isWhole error={state.error} again={state.again} />
  }
  if (session === undefined || (calls.length === 0 && isLoading)) return <Loading what="the session" />
  if (calls.length === 0) return <Empty title="This session has no calls" isWhole />

  const { call } = selected
  return (
    <div class="session">
      <SessionHead
        {...{ session, threads, thread, view, hasSteps, isFollowing, isSideOpen, follow }}
        openSide={() => setSideOpen((isOpen) => !isOpen)}
        find={keys.openFind}
        nextError={keys.nextError}
      />
      <Strip
        calls={calls}
        shown={shown}
        selected={call?.event_id}
        select={(call) => Route.amend({ call: call.event_id, message: null, view: null })}
      />
      {find.isOpen && isStream && <FindBar {...find} count={find.occurrences.length} />}
      {state.error !== undefined && (
        <RestMissing error={state.error} again={state.error.isTemporary ? state.resume : state.again} />
      )}
      {!state.isConnected && <Reconnecting />}
      <div class="columns">
        {view === "table" && <CallsTable calls={calls} shown={shown} selected={call?.event_id} />}
        {view === "timeline" && Timeline !== undefined && (
          <Timeline {...{ calls, steps, shown }} selected={call?.event_id} />
        )}
        {isStream && (
          <Conversation
            {...{ of, selected, find, isLoading, scroller, list, stay }}
            scrolled={(pixelsToEnd) => isFollowing && pixelsToEnd > followedPixels && setFollowing(false)}
          />
        )}
        <CostPanel
          {...{ calls, carried, messages, shown }}
          isOpen={isSideOpen}
          selected={call}
          number={call && stream.callsById.get(call.event_id)?.number}
        />
      </div>
    </div>
  )
}
