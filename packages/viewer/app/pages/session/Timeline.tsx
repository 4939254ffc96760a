/** The calls and steps of a session as the trees that they were, with when each began and how long it took. */
import type { ComponentChildren } from "preact"
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { FindBar } from "../../find/FindBar.tsx"
import { useKeys } from "../../keyboard/Keys.ts"
import { RestMissing } from "../../parts/Banner.tsx"
import { Duration, Fact, Time } from "../../parts/Facts.tsx"
import { Value } from "../../parts/message/Value.tsx"
import { Rebuilt, SpanFacts } from "../../parts/Rebuilt.tsx"
import * as Route from "../../route/Route.ts"
import * as Scroll from "../../route/Scroll.ts"
import type { Call, Step } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import type { Shown } from "./Links.ts"
import { type Row, rowsOf, type SpanRow, type TraceRow } from "./TraceRows.ts"
import { useFound } from "./useFound.ts"
import type { Steps } from "./useSteps.ts"
import { type ListHandle, VirtualList } from "./VirtualList.tsx"

/** Rough heights of rows that have not been measured (pixels). */
const rowHeight = 30
const openHeight = 400

/** Deeper spans are as far from the edge as this one. */
const maxIndent = 12

export interface TimelineProps {
  readonly calls: ReadonlyArray<Call>
  readonly steps: Steps
  readonly shown: Shown
  readonly selected: string | undefined
}

const Trace = ({ row: { at, calls, durationMs, id, steps } }: { readonly row: TraceRow }) => (
  <h2 class="trace">
    {id === null ? (
      "Without a trace"
    ) : (
      <>
        Trace <Plain as="code" text={id} />
      </>
    )}
    <small>
      <Time at={at} />, <Duration ms={durationMs} />
      {": "}
      {Format.counted(calls, "call")}, {Format.counted(steps, "step")}
    </small>
  </h2>
)

interface LineProps {
  readonly row: SpanRow
  readonly kind: string
  readonly isFailed: boolean
  readonly children: ComponentChildren
}

/** What it is, how long it took, and its bar. */
const Line = ({ children, isFailed, kind, row: { afterMs, begin, depth, durationMs, length } }: LineProps) => (
  <>
    <span class="span-name" style={{ paddingInlineStart: `calc(${Math.min(depth, maxIndent)} * var(--indent))` }}>
      <small class="span-kind">{kind}</small>
      {children}
      {isFailed && <b class="bad">failed</b>}
    </span>
    <Duration ms={durationMs} />
    <span class="track" title={`Began ${Format.duration(afterMs)} after its trace`}>
      <span
        class={`bar ${isFailed ? "failed" : kind}`}
        style={{ insetInlineStart: `${100 * begin}%`, inlineSize: `${100 * length}%` }}
      />
    </span>
  </>
)

const StepFacts = ({ step }: { readonly step: Step }) => (
  <>
    {step.message !== null && (
      <p class={step.status === "error" ? "bad" : "hint"}>
        <Plain text={step.message} />
      </p>
    )}
    <dl class="facts">
      <Fact name="Began">
        <time dateTime={step.occurred_at} title={Format.exactly(step.occurred_at)}>
          {step.occurred_at}
        </time>
      </Fact>
      <Fact name="Status">{step.status}</Fact>
      <SpanFacts call={step} />
      <Fact name="Span id">
        <Plain as="code" text={step.span_id} />
      </Fact>
      <Fact name="Parent">{step.parent_span_id !== null && <Plain as="code" text={step.parent_span_id} />}</Fact>
    </dl>
    <Value value={step.attributes} />
  </>
)

interface StepLineProps {
  readonly row: SpanRow & { readonly kind: "step" }
  readonly isOpen: boolean
  readonly toggle: (isOpen: boolean) => void
}

const StepLine = ({ isOpen, row, toggle }: StepLineProps) => (
  <details open={isOpen} onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
    <summary class="span-line">
      <Line row={row} kind={row.step.kind} isFailed={row.step.status === "error"}>
        <Plain as="span" class="name" title={plain(row.step.name)} text={row.step.name} />
      </Line>
    </summary>
    {isOpen && (
      <div class="fold">
        <StepFacts step={row.step} />
      </div>
    )}
  </details>
)

const CallLine = ({ row }: { readonly row: SpanRow & { readonly kind: "call" } }) => {
  const { call, number } = row
  return (
    <div class="span-line">
      <Line row={row} kind="call" isFailed={call.error_type !== null}>
        <a class="call-number" href={Route.to(["events", call.event_id])}>
          Call {number}
        </a>
        <Plain as="span" class="name" text={call.response_model ?? call.model ?? ""} />
        <Rebuilt call={call} />
      </Line>
    </div>
  )
}

/** What is on the line of a row. In lower case. */
const wordsOf = (row: Row): string => {
  if (row.kind === "trace") return row.id ?? ""
  const name = row.kind === "step" ? row.step.name : (row.call.response_model ?? row.call.model ?? "")
  return name.toLowerCase()
}

export const Timeline = ({ calls, selected, shown, steps }: TimelineProps) => {
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<ListHandle>(null)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => rowsOf(calls, steps.steps), [calls, steps.steps])
  const selectedRow = rows.findIndex((row) => row.kind === "call" && row.call.event_id === selected)
  useEffect(() => {
    if (selectedRow !== -1) list.current?.scrollTo(selectedRow, "auto")
  }, [selected, selectedRow === -1])
  const wordsAt = useCallback((index: number) => wordsOf(rows[index]!), [rows])
  const find = useFound(rows.length, wordsAt, scroller, list)
  useKeys([
    { keys: "Mod+f", does: "Find (twice: the browser's)", run: find.open },
    { keys: "/", does: "Find", run: find.open },
    ...(find.isOpen ? [{ keys: "Escape", does: "Close what is open", run: find.close }] : [])
  ])
  // Going back restores the scroll.
  useEffect(() => {
    const offset = Scroll.recall("timeline")
    if (offset !== undefined) scroller.current!.scrollTop = offset
  }, [])
  const toggle = (key: string, isOpen: boolean) =>
    setOpen((open) => (isOpen ? new Set(open).add(key) : new Set([...open].filter((each) => each !== key))))
  const row = (index: number) => {
    const row = rows[index]!
    if (row.kind === "trace") return <Trace row={row} />
    if (row.kind === "step") {
      return <StepLine row={row} isOpen={open.has(row.key)} toggle={(isOpen) => toggle(row.key, isOpen)} />
    }
    const isElsewhere = shown?.has(row.call.event_id) === false
    return (
      <div class={`${index === selectedRow ? "selected" : ""} ${isElsewhere ? "elsewhere" : ""}`}>
        <CallLine row={row} />
      </div>
    )
  }
  return (
    <div class="timeline">
      {find.isOpen && <FindBar {...find} count={find.occurrences.length} />}
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="The timeline"
        onScroll={({ currentTarget }) => Scroll.remember("timeline", currentTarget.scrollTop)}
      >
        {steps.error !== undefined && <RestMissing error={steps.error} again={steps.again} />}
        <VirtualList
          scroller={scroller}
          handle={list}
          count={rows.length}
          keyOf={(index) => rows[index]?.key ?? String(index)}
          estimate={(index) => (open.has(rows[index]?.key ?? "") ? openHeight : rowHeight)}
          row={row}
          label="The timeline"
        />
        {steps.isLoading && <p class="state">Loading the rest…</p>}
        {steps.damaged > 0 && (
          <p class="state bad">{Format.counted(steps.damaged, "step")} are damaged, and left out.</p>
        )}
      </div>
    </div>
  )
}
