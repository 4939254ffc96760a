/**
 * The calls that a WebSocket of OpenAI's Responses API carries. Each `response.create` of the application is one, with the events of the
 * server up to the one that ends its response. Those of one `stream_id` follow one another, and so do those that have none.
 */
import type { Interruption } from "../calls/PassedCall.ts"
import type { CopiedCall } from "./CallRecorder.ts"

/** What is read of a message. */
export interface SocketEvent {
  readonly type?: unknown
  readonly stream_id?: unknown
  readonly generate?: unknown
  readonly status?: unknown
  readonly previous_response_id?: unknown
  readonly response?: { readonly previous_response_id?: unknown } | null
  readonly steer?: { readonly previous_response_id?: unknown } | null
}

/** A request that is not answered yet. */
interface Turn {
  /** Undefined where it only prepares the provider: `generate` is false. */
  readonly call: CopiedCall | undefined
  hasBegun: boolean
  /** Set once an error came, which may be the last event or the last but one. */
  failing: NodeJS.Timeout | undefined
}

/** The status of a connection that became a WebSocket: that of its calls, unless an event says another one. */
const switchingProtocols = 101

/** Events after which nothing comes for a response. */
const endings = /^response\.(?:completed|incomplete|failed|cancelled|done)$/

/** How long an error may be followed by the event that ends its response (ms). */
const failingMs = 1_000

/** How many requests of a connection are followed at once. */
export const maxTurns = 256

const asEvents = ["Content-Type", "text/event-stream"]
const asJson = ["Content-Type", "application/json"]

const prefix = Buffer.from("data: ")
const suffix = Buffer.from("\n\n")

/** A message as the event of a stream over HTTP. Line breaks in JSON are white space, and would end a line of the event. */
const asEvent = (message: Buffer): Buffer =>
  message.includes(10) || message.includes(13)
    ? Buffer.from(`data: ${message.toString().replaceAll(/\r\n?|\n/g, "\ndata: ")}\n\n`)
    : Buffer.concat([prefix, message, suffix])

const isStatus = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 400

export class ResponseCalls {
  readonly #begin: () => CopiedCall
  readonly #drop: () => void
  readonly #lanes = new Map<string, Array<Turn>>()
  /** Calls that a response may be followed by of itself, by the id of that response. */
  readonly #steers = new Map<string, CopiedCall>()
  #size = 0

  /** `begin` begins the recording of a call, and `drop` counts a response whose request is not known. */
  constructor(begin: () => CopiedCall, drop: () => void) {
    this.#begin = begin
    this.#drop = drop
  }

  /** Requests that are not answered. */
  get size(): number {
    return this.#size
  }

  /** Whether some requests have lanes of their own. */
  get hasLanes(): boolean {
    return Array.from(this.#lanes.keys()).some((lane) => lane !== "")
  }

  sent(event: SocketEvent, message: Buffer): void {
    if (event.type === "response.steer") return this.#steer(event, message)
    if (event.type !== "response.create") return
    const call = event.generate === false ? undefined : this.#call(message)
    this.#settleFailing(laneOf(event))
    this.#add(laneOf(event), call)
  }

  /** A request that cannot be read, and is not recorded. Its answer is not that of another one. */
  sentUnread(): void {
    this.#add("", undefined)
  }

  received(event: SocketEvent, message: Buffer): void {
    const type = String(event.type)
    if (type === "response.steer.failed" || type === "response.steer.pending") {
      return this.#discardSteer(event.steer?.previous_response_id)
    }
    if (type !== "error" && !type.startsWith("response.")) return
    if (type === "response.created") this.#follow(event)
    const [lane, turn] = this.#turnOf(event)
    if (turn === undefined) return
    if (!turn.hasBegun && type === "error") return this.#refused(lane, turn, event, message)
    if (!turn.hasBegun) turn.call?.copies.head(switchingProtocols, asEvents)
    turn.hasBegun = true
    turn.call?.copies.response(asEvent(message))
    if (endings.test(type)) this.#end(lane, turn)
    else if (type === "error") turn.failing ??= setTimeout(() => this.#end(lane, turn), failingMs).unref()
  }

  /** Nothing passes any more, because of the interruption, or nothing of it is read any more. */
  end(interruption?: Interruption, failureCode?: string): void {
    for (const [lane, turns] of [...this.#lanes]) {
      for (const turn of [...turns]) {
        if (interruption === undefined && !turn.hasBegun) turn.call?.copies.head(switchingProtocols, asEvents)
        if (turn.failing === undefined) this.#end(lane, turn, interruption, failureCode)
        else this.#end(lane, turn)
      }
    }
    for (const id of [...this.#steers.keys()]) this.#discardSteer(id)
  }

  #call(message: Buffer): CopiedCall {
    const call = this.#begin()
    call.copies.request(message)
    call.copies.requestEnded()
    return call
  }

  #add(lane: string, call: CopiedCall | undefined): void {
    const turns = this.#lanes.get(lane) ?? []
    this.#lanes.set(lane, turns)
    turns.push({ call, hasBegun: false, failing: undefined })
    this.#size++
  }

  #end(lane: string, turn: Turn, interruption?: Interruption, failureCode?: string): void {
    const turns = this.#lanes.get(lane)
    const at = turns?.indexOf(turn) ?? -1
    if (at < 0) return
    turns!.splice(at, 1)
    if (turns!.length === 0) this.#lanes.delete(lane)
    this.#size--
    clearTimeout(turn.failing)
    turn.call?.end(interruption, failureCode)
  }

  /** The request whose answer an event is part of: of an error with a status, which is a refusal, the first that has no answer yet. */
  #turnOf(event: SocketEvent): readonly [lane: string, turn: Turn | undefined] {
    const lane = laneOf(event)
    const turns = this.#lanes.get(lane)
    if (turns === undefined && event.type === "error" && lane === "" && this.#size === 1) {
      const [[only, [turn]]] = [...this.#lanes] as [[string, [Turn]]]
      return [only, turn]
    }
    const refused = event.type === "error" && isStatus(event.status) ? turns?.find((turn) => !turn.hasBegun) : undefined
    return [lane, refused ?? turns?.[0]]
  }

  /** The whole answer is an error, as it is where a request over HTTP is refused. */
  #refused(lane: string, turn: Turn, { status }: SocketEvent, message: Buffer): void {
    turn.call?.copies.head(isStatus(status) ? status : switchingProtocols, asJson)
    turn.call?.copies.response(Buffer.from(message))
    this.#end(lane, turn)
  }

  /** Ends a response whose error was its last event: another request of its lane begins. */
  #settleFailing(lane: string): void {
    const turn = this.#lanes.get(lane)?.[0]
    if (turn?.failing !== undefined) this.#end(lane, turn)
  }

  /** Input that the provider may go on with after a response, of itself. */
  #steer(event: SocketEvent, message: Buffer): void {
    const id = event.previous_response_id
    if (typeof id !== "string" || this.#steers.has(id) || this.#steers.size >= maxTurns) return
    this.#steers.set(id, this.#call(message))
  }

  #discardSteer(id: unknown): void {
    const call = this.#steers.get(String(id))
    this.#steers.delete(String(id))
    call?.copies.end()
    call?.copies.release()
  }

  /** A response that begins without a request follows another one, with the input that was sent for that. */
  #follow(event: SocketEvent): void {
    const lane = laneOf(event)
    this.#settleFailing(lane)
    const id = String(event.response?.previous_response_id)
    if (this.#lanes.has(lane)) return
    const call = this.#steers.get(id)
    if (call === undefined) return this.#drop()
    this.#steers.delete(id)
    this.#add(lane, call)
  }
}

const laneOf = ({ stream_id }: SocketEvent): string => (typeof stream_id === "string" ? stream_id : "")
