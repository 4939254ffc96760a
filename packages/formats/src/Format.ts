/** What each format of a model call answers: its facts, its conversation, and the output that a stream stands for. */

/** The formats by the name that an event carries in `properties.api`. */
export type Api =
  | "provider1-chat-completions"
  | "provider1-responses"
  | "provider2-messages"
  | "provider2-beta-messages"
  | "provider3-models"
  | "provider3-interactions"
  | "aisdk"

/** Any value that JSON can hold. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** Why a model stopped, whatever the provider calls it. */
export type StopReason = "end" | "length" | "tool_calls" | "refusal" | "content_filter" | "pause" | "error" | "other"

/**
 * What is filtered, counted and paid for. What cannot be read is null. The keys are those of the wire.
 *
 * Tokens mean the same in every format: `input_tokens` is all that went in, `cache_read_tokens` and `cache_write_tokens` are
 * parts of it, `output_tokens` is all that came out, and `reasoning_tokens` is a part of that.
 */
export interface Facts {
  /** The provider as price lists name it, such as `openai`, `anthropic` or `google`. */
  readonly provider: string | null
  /** The model that was asked for. */
  readonly model: string | null
  /** The model that answered. */
  readonly response_model: string | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cache_read_tokens: number | null
  readonly cache_write_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly stop_reason: StopReason | null
  /** The provider's own word, such as `end_turn` or `MAX_TOKENS`. */
  readonly provider_stop_reason: string | null
  /** The name of each tool call of the answer, in order. Empty where the answer has none, null where there is no answer to read. */
  readonly tool_calls: ReadonlyArray<string> | null
  /** The type of the provider's error, else its code, else its status, else `unknown`. Null exactly where `output` is no error. */
  readonly error_type: string | null
  /** The provider's code, such as `model_not_found` or `RESOURCE_EXHAUSTED`: null where that is only an HTTP status. */
  readonly error_code: string | null
  /** The HTTP status that the error body itself names. */
  readonly error_status: number | null
}

export type Tokens = Pick<
  Facts,
  "input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens" | "reasoning_tokens"
>

/** What costs something and is not counted, such as `maps`. `@tachograph/prices` has the same words. */
export type Uncounted = "web_search" | "audio" | "images" | "code_interpreter" | "maps" | "advisor"

/** What the price of a request depends on besides its facts. */
export interface RequestBilling {
  /** The tier that the provider says it served, such as `default`, `batch`, `flex` or `priority`. */
  readonly service_tier: string | null
  /** The part of `cache_write_tokens` that is kept for an hour. */
  readonly cache_write_1h_tokens: number | null
  /** Parts of `input_tokens`, of `cache_read_tokens` and of `output_tokens` that are no text. */
  readonly input_audio_tokens: number | null
  readonly input_image_tokens: number | null
  readonly input_video_tokens: number | null
  readonly cache_audio_read_tokens: number | null
  readonly cache_image_read_tokens: number | null
  readonly output_audio_tokens: number | null
  readonly output_image_tokens: number | null
  readonly output_video_tokens: number | null
  /** Tokens of the sources that the provider read, which it counts beside all others. */
  readonly citation_tokens: number | null
  /** How many times the provider searched the web for the answer, and the application's files. */
  readonly web_searches: number | null
  readonly file_searches: number | null
  readonly uncounted: ReadonlyArray<Uncounted>
}

/** One of the requests that a call made, by itself. Where its provider and models are null, they are the call's. */
export interface Request extends RequestBilling, Tokens, Pick<Facts, "provider" | "model" | "response_model"> {}

/** What the price of a call depends on besides its facts. */
export interface Billing extends RequestBilling {
  /** The requests that the call made, where it made several and says what each took. Null otherwise. */
  readonly requests: ReadonlyArray<Request> | null
  /** What the answer itself says that the call cost, in US dollars. */
  readonly stated_cost: number | null
}

/** Of the output alone: what was asked for may not be what was served. */
export type ReadBilling = (inputs: unknown, output: unknown) => Billing

/**
 * A part of a message as the OpenTelemetry semantic conventions for generative AI name it. `type` is one of `text`,
 * `reasoning`, `tool_call`, `tool_call_response`, `blob`, `uri`, `file`, or the provider's own for what is none of them.
 * What the conventions have no name for keeps the provider's key, so that nothing is left out.
 */
export interface Part extends JsonObject {
  readonly type: string
}

export interface Message {
  /** `system`, `developer`, `user`, `assistant`, `tool`, or the provider's own. */
  readonly role: string
  readonly parts: ReadonlyArray<Part>
  /** The name of the participant. */
  readonly name?: string
  /** Only in an output. */
  readonly finish_reason?: string
  /** What else the provider's message holds, under the provider's keys. */
  readonly [key: string]: Json | undefined
}

/** One call in normal form. */
export interface Conversation {
  /** Instructions that stand apart from the messages. */
  readonly instructions: ReadonlyArray<Part>
  /** Definitions of tools: `name`, `description` and `parameters` where the provider has them, and the rest under its keys. */
  readonly tools: ReadonlyArray<JsonObject>
  /** What else the request holds, under the provider's keys. */
  readonly parameters: JsonObject
  /** The messages that were sent. */
  readonly input: ReadonlyArray<Message>
  /** The messages that were answered: one for each choice, candidate or item of the output, as they are sent back. */
  readonly output: ReadonlyArray<Message>
}

export interface Accumulated {
  /** The object that the same call without streaming answers, as far as the stream came, with keys in the order of the wire. */
  readonly output: JsonObject
  /**
   * The JSON text of `output` where it holds a number that JavaScript cannot, such as 9007199254740993. Null where
   * `JSON.stringify(output)` says it all.
   */
  readonly text: string | null
  /** What ended the stream: its own last event, an error that the provider sent, or nothing (it was cut). */
  readonly ended: "done" | "error" | "cut"
}

/** Builds the output of a stream. It takes any input: what it cannot read it leaves out, and it never throws. */
export interface Accumulator<Chunk = Uint8Array> {
  /** Takes the next bytes of the body, cut anywhere. */
  readonly push: (chunk: Chunk) => void
  /** Returns what came until now. */
  readonly end: () => Accumulated
  /**
   * How long it is that is held: the JSON text of what came until now, and what came since the last event that is complete, which
   * is not read for it. In units of UTF-16 and bytes.
   */
  readonly size: () => number
}

/** Reads the conversation of a call. */
export interface ConversationReader {
  /** Brings a call into normal form. Marks that concern transport only, such as `cache_control`, are left out. */
  readonly messages: (inputs: unknown, output: unknown) => Conversation
  /** Where in `inputs` the messages may be: the first of these that is an array holds them. */
  readonly conversationPaths: ReadonlyArray<Path>
  /**
   * The messages that one element of that array stands for. They do not depend on the elements around it, so that a message
   * that is sent again need not be read again. `messages().input` is these, in order, wherever there is such an array.
   */
  readonly element: (element: unknown) => ReadonlyArray<Message>
}

/** The formats of calls that go over the wire. */
export type WireApi = Exclude<Api, "aisdk">

/** Whose model is called at a platform that has those of many: Anthropic's, or anybody's, as far as the path says it. */
export type Maker = "anthropic" | "any"

/** How the answer of a call comes by another request, which has the end of the call. */
export interface LaterAnswer {
  /** The requests that ask for it, by the method and the end of the path, which has the id. */
  readonly requests: ReadonlyArray<readonly [method: string, path: RegExp]>
  /** What an event calls the id whose call is not known. */
  readonly idKey: string
  /** The id in the first answer of a call; no text where nothing can be asked for. */
  readonly idIn: (inputs: unknown, output: unknown) => Json | undefined
  /** Whether the first answer of a call says that another one follows. */
  readonly isRunning: (output: unknown) => boolean
  /** Whether an answer that was asked for is that to which its call has come, whatever that is: cancelled and failed ones are. */
  readonly isEnd: (output: unknown) => boolean
  /** Whether an answer says that it was made in the background. */
  readonly isBackground: (output: unknown) => boolean
}

/** What a request says of itself beside its path. `body` is parsed, and undefined where it is not known. */
export interface WireRequest {
  readonly query: string
  readonly body: unknown
  /** The header `anthropic-beta`. */
  readonly betaHeader: string | null | undefined
}

/** What is known of a format before its calls are recorded: all that a capture needs. */
export interface WireFormat extends ConversationReader {
  /**
   * How the paths of calls end, whatever the host. No pattern looks at a part of a path again and again: paths come from strangers, and are
   * long.
   */
  readonly paths: ReadonlyArray<RegExp>
  /** Whether a body is one of the format. Other services have paths that end alike, but name no model in them. */
  readonly isCall: (body: unknown, isModelInPath: boolean) => boolean
  /** Whether an answer, or the first event of one that is a stream, has what only this format has. */
  readonly isAnswer: (answer: unknown) => boolean
  /** Starts a stream of bytes. */
  readonly accumulator: () => Accumulator
  /** The other name that the format has, and which requests are called by that. */
  readonly variant?: { readonly api: WireApi; readonly is: (request: WireRequest) => boolean }
  readonly later?: LaterAnswer
}

/** A path of keys and indexes. */
export type Path = ReadonlyArray<string | number>

/** How a call names the one that it continues, where the provider keeps the conversation and its history is not sent again. */
export interface Links {
  /** The id of the answer, by which a later call may continue it. */
  readonly answer: string | null
  /** The id of the answer that the call continues. */
  readonly previous: string | null
  /** The id of the conversation that the call is added to. */
  readonly conversation: string | null
}

/** `inputs` and `output` are parsed JSON. They need not be well-formed calls: each function takes any value. */
export interface Format<Chunk = Uint8Array> extends ConversationReader {
  /** Reads the facts of a call. Of `inputs` it reads only what stands at `factPaths`. */
  readonly facts: (inputs: unknown, output: unknown) => Facts
  readonly factPaths: ReadonlyArray<ReadonlyArray<string>>
  readonly billing: ReadBilling
  /** Whether an output is that of a stream which was cut before it said what it took, where it begins with counts. */
  readonly isCut?: (output: unknown) => boolean
  /** `inputs` need not hold the messages. */
  readonly links?: (inputs: unknown, output: unknown) => Links
  /** Parameters that are links, and so differ from call to call. */
  readonly linkKeys?: ReadonlyArray<string>
  /** Whether the messages of an output are choices of which one is sent back, and not one after the other. */
  readonly outputIsChoices: boolean
  /** The path of a message of `messages(inputs, output).output`, by its index. Null where no value of the output is the message alone. */
  readonly outputPath: (output: unknown, index: number) => Path | null
  /** Starts a stream. Chunks are bytes; those of `aisdk` are the stream's parts, as objects. */
  readonly accumulator: () => Accumulator<Chunk>
}

/** All that is said of a format. To make it has no effects: a bundle leaves it out that holds only what captures need. */
export const whole = (wire: WireFormat, rest: Omit<Format, keyof WireFormat>): WireFormat & Format => ({
  ...wire,
  ...rest
})
