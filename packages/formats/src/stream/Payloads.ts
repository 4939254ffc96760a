/** The payloads of a streamed body, whatever frames them. */
import * as ServerSentEvents from "./ServerSentEvents.ts"

export type Payload = ServerSentEvents.ServerSentEvent
export type PayloadDecoder = ServerSentEvents.ServerSentEventDecoder

export const make = (): PayloadDecoder => ServerSentEvents.make()
