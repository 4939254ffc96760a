/** What a session's page shows of its calls: all of them, or those of one thread, as a stream of calls and messages. */
import { useCallback, useMemo } from "preact/hooks"
import type { Call, Message, Step } from "../../server/Types.ts"
import { carriedOf } from "./Carried.ts"
import { streamOf, wordsOf } from "./StreamItems.ts"
import { threadsOf } from "./Threads.ts"
import { toolCallsOf } from "./ToolCalls.ts"

export const useStream = (
  calls: ReadonlyArray<Call>,
  messages: ReadonlyArray<Message>,
  steps: ReadonlyArray<Step>,
  thread: number | undefined
) => {
  const threads = useMemo(() => threadsOf(calls), [calls])
  /** The calls that are shown, if not all are. */
  const shown = useMemo(() => {
    const one = threads.find(({ number }) => number === thread)
    return one === undefined ? undefined : new Set(one.calls.map(({ event_id }) => event_id))
  }, [threads, thread])
  const threadOf = useMemo(
    () => new Map(threads.flatMap(({ calls, number }) => calls.map(({ event_id }) => [event_id, number] as const))),
    [threads]
  )
  const toolCalls = useMemo(() => toolCallsOf(calls, messages, steps), [calls, messages, steps])
  const stream = useMemo(() => streamOf(calls, messages, shown, toolCalls), [calls, messages, shown, toolCalls])
  const { items, results } = stream
  const wordsAt = useCallback((row: number) => wordsOf(items[row]!, results), [items, results])
  const carried = useMemo(() => carriedOf(calls), [calls])
  /** The parts that have an answer of a tool. */
  const answered = useMemo(() => new Set(Array.from(results.values(), ({ part }) => part)), [results])
  return { threads, shown, threadOf, toolCalls, stream, wordsAt, carried, answered, hasMessages: messages.length > 0 }
}

export type SessionStream = ReturnType<typeof useStream>
