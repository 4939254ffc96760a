/**
 * Finds which step of version 6 has ended, which has no ids. A call without streaming has one object for its model from the start
 * of a step to its end. A stream has not: its later steps hold the very messages that the steps before them answered, and of the
 * first one the request that was sent holds the texts.
 */
import type { CallContext } from "../context/Context.ts"
import { isObject } from "../event/Event.ts"

type Fields = Readonly<Record<string, unknown>>

interface Asked {
  readonly inputs: Fields
  /** The messages that the steps before it answered. */
  readonly answered: ReadonlyArray<unknown>
  readonly context: CallContext
}

export interface Open<S extends Asked = Asked> {
  readonly model: object
  readonly started: S
}

/** Some providers send the data of a `data:` address alone, and others make such addresses. */
const bare = (text: string): string => text.replace(/^data:[^,]*,/, "")

const collect = (value: unknown, into: Set<string>): Set<string> => {
  if (typeof value === "string") return into.add(bare(value))
  if (typeof value === "object" && value !== null) for (const item of Object.values(value)) collect(item, into)
  return into
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** Every text of the request, or nothing where the SDK does not tell it. */
const sentTexts = ({ request }: Fields): ReadonlySet<string> => {
  const body = isObject(request) ? request["body"] : undefined
  return collect(typeof body === "string" ? parsed(body) : body, new Set())
}

const textsOfPart = (part: unknown): ReadonlyArray<unknown> =>
  isObject(part) ? [part["text"], part["image"], part["data"]] : []

/** What was said and shown. The SDK's own words, such as `tool-result`, and arguments of tools are called otherwise on the wire. */
const askedTexts = ({ inputs: { messages, system } }: Asked): ReadonlyArray<string> => {
  const contents = (Array.isArray(messages) ? messages : []).map((message) =>
    isObject(message) ? message["content"] : undefined
  )
  return [system, ...contents]
    .flatMap((content) => (Array.isArray(content) ? content.flatMap(textsOfPart) : [content]))
    .filter((text): text is string => typeof text === "string")
    .map(bare)
}

const difference = (texts: ReadonlyArray<string>, isSent: (text: string) => boolean) => {
  const sent = texts.filter(isSent).length
  return { sent, score: sent - (texts.length - sent) }
}

/** Those whose texts were sent, and most of all. Where a conversation has grown, its beginning was sent too. */
const asked = <S extends Asked>(open: ReadonlyArray<Open<S>>, texts: ReadonlySet<string>): ReadonlyArray<Open<S>> => {
  const best = (isSent: (text: string) => boolean) => {
    const found = open.map((entry) => {
      const own = askedTexts(entry.started)
      return { entry, isEmpty: own.length === 0, ...difference(own, isSent) }
    })
    const possible = found.filter(({ isEmpty, sent }) => isEmpty || sent > 0)
    const most = Math.max(...possible.map(({ score }) => score))
    return possible.filter(({ score }) => score === most).map(({ entry }) => entry)
  }
  const exact = best((text) => texts.has(text))
  if (exact.length > 0) return exact
  // Some providers trim texts, or make one of several.
  const all = [...texts].join("\n")
  return best((text) => all.includes(text.trim()))
}

const isWithin = (here: string, { started }: Open) => JSON.stringify(started.context) === here

const first = <S extends Asked>(
  open: ReadonlyArray<Open<S>>,
  event: Fields,
  context: CallContext
): Open<S> | undefined => {
  const here = JSON.stringify(context)
  const texts = sentTexts(event)
  const likely = texts.size === 0 ? open : asked(open, texts)
  const near = likely.filter((entry) => isWithin(here, entry))
  // Without a request nothing tells them apart.
  if (texts.size === 0 && likely.length > 1) return near.length === 1 ? near[0] : undefined
  // An earlier one with the same texts may have failed, which version 6 does not tell.
  return near.at(-1) ?? likely.at(-1)
}

/** The one of `open` that the event is the end of. */
export const ended = <S extends Asked>(
  open: ReadonlyArray<Open<S>>,
  event: Fields,
  context: CallContext
): Open<S> | undefined => {
  const { functionId, model, response, stepNumber } = event
  if (!isObject(model)) return undefined
  const same = open.find((entry) => entry.model === model)
  if (same !== undefined) return same
  const alike = open.filter(
    ({ model: other, started: { inputs } }) =>
      (other as Fields)["modelId"] === model["modelId"] &&
      inputs["stepNumber"] === stepNumber &&
      inputs["functionId"] === functionId
  )
  const messages = new Set<unknown>(
    isObject(response) && Array.isArray(response["messages"]) ? response["messages"] : []
  )
  const later = alike.find(({ started: { answered } }) => answered.length > 0 && messages.has(answered.at(-1)))
  return (
    later ??
    first(
      alike.filter(({ started: { answered } }) => answered.length === 0),
      event,
      context
    )
  )
}
