/** What is selected in a session's stream. It is in the place: a call, or a message. */
import { useCallback, useMemo } from "preact/hooks"
import { blurControl } from "../../keyboard/Keys.ts"
import * as Route from "../../route/Route.ts"
import { indexOfMessage, type Item, type Stream } from "./StreamItems.ts"

export const useSelected = (query: URLSearchParams, stream: Stream) => {
  const { items } = stream
  const callId = query.get("call")
  const messageNumber = Number(query.get("message")) || undefined
  /** -1 for none. */
  const index = useMemo(() => {
    if (messageNumber !== undefined) return indexOfMessage(stream, messageNumber)
    return callId === null ? -1 : items.findIndex(({ key }) => key === callId)
  }, [stream, callId, messageNumber])
  const select = useCallback(
    (index: number) => {
      const item = items[index]
      if (item === undefined) return
      if (item.kind === "message") Route.amend({ message: item.message.number, call: null })
      else Route.amend({ call: item.call.event_id, message: null })
    },
    [items]
  )
  /** Selects the next item from an index on that matches. Returns whether there is one. */
  const step = (from: number, by: 1 | -1, matches: (item: Item) => boolean): boolean => {
    for (let index = from + by; index >= 0 && index < items.length; index += by) {
      if (!matches(items[index]!)) continue
      blurControl()
      select(index)
      return true
    }
    return false
  }
  const item = items[index]
  return { index, item, call: item?.call, named: `${callId} ${messageNumber}`, select, step }
}

export type Selected = ReturnType<typeof useSelected>
