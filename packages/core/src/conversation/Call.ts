/** A call of a session as messages: as it is added to the outline of the session, and as it is in it. */
import type { Api } from "@tachograph/formats"
import type { Elements } from "./Elements.ts"
import type { IdentityNumber } from "./Identities.ts"
import type { Node } from "./MessageTree.ts"

/** Where the text of a message is, in the call that carried it first. */
export type MessageSource =
  /** One of the messages of a piece of the history. */
  | { readonly piece: number; readonly at: number }
  /** One of the messages of an element of the inputs. */
  | { readonly element: number; readonly at: number }
  /** A message of the output. */
  | { readonly answer: number }

/** A message of a session. Its number is its index and 1. */
export interface OutlinedMessage {
  /** The index of the call that carried it first. */
  readonly call: number
  readonly source: MessageSource
}

/** Numbers for instructions, tools and parameters: equal for equal ones. */
interface Settings {
  readonly instructions: number
  readonly tools: number
  readonly parameters: number
}

/** A call, as it is added. */
export interface NewCall {
  readonly api: Api
  /** When it happened, as far as it is known (ms). Undefined if only the time of its recording is known. */
  readonly occurredAtMs: number | undefined
  readonly elements: Elements
  readonly output: ReadonlyArray<IdentityNumber>
  /** Whether one message of the output is sent back, and not all of them. */
  readonly isChoices: boolean
  /** Names of what it continues, the best one first, and by which it can be continued. */
  readonly continues: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  readonly settings: Settings
  /** The model that its inputs name. */
  readonly model: string | undefined
}

export interface OutlinedCall extends Pick<NewCall, "isChoices" | "occurredAtMs" | "settings"> {
  /** The last of the instructions that it began with. */
  readonly instructions: Node
  /** The last of its messages. The root if there are none but instructions. */
  readonly end: Node
  readonly output: ReadonlyArray<Node>
  /** The index of the call that it continues. */
  readonly parent: number | undefined
  /** The index of the last call before it that sent the same messages with the same settings. */
  readonly repeated: number | undefined
  /** How many messages at the beginning of the parent's conversation it carried. */
  readonly keptFirst: number
  /** Messages that it carried and the parent's conversation has. */
  readonly kept: number
  /** Messages that it carried and the parent's conversation has not. */
  readonly added: ReadonlyArray<number>
  /** Messages of the parent's conversation, after its instructions, that it neither carried nor answered. */
  readonly gone: ReadonlyArray<number>
}
