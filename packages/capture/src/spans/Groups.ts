/** Whose a call or a step is: its session, person, agent and version. Each is found by itself: on the span, on its nearest ancestor that has it, or on the resource. */
import { isMarkOfKind, isOfParent, kindOf } from "./Emitters.ts"
import { isOfError } from "./Outcome.ts"
import type { Attributes, Span, Value } from "./Span.ts"

export interface Group {
  readonly session?: string | undefined
  readonly person?: string | undefined
  readonly agent?: string | undefined
  readonly version?: string | undefined
}

/** Keys of attributes, from the most to the least telling. */
type Keys = ReadonlyArray<string>

/** What applications name freely: each emitter puts it below a head of its own. */
const heads = [
  "traceloop.association.properties.",
  "ai.telemetry.metadata.",
  "ai.settings.context.",
  "mastra.metadata.",
  "langfuse.trace.metadata.",
  "langsmith.metadata."
] as const

const below = (...names: ReadonlyArray<string>): Keys => heads.flatMap((head) => names.map((name) => head + name))

const sessionNames = ["sessionId", "session_id", "threadId", "thread_id", "conversationId", "conversation_id"]
const personNames = ["userId", "user_id"]
const agentNames = ["agent", "agentName", "agent_name", "lc_agent_name"]
const versionNames = ["agentVersion", "agent_version"]

const keys: Readonly<Record<keyof Group, Keys>> = {
  session: [
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    ...below(...sessionNames),
    "conversation.id"
  ],
  person: ["user.id", "enduser.id", "langfuse.user.id", ...below(...personNames)],
  agent: [
    "gen_ai.agent.name",
    "agent.name",
    "traceloop.workflow.name",
    "ai.telemetry.functionId",
    ...below(...agentNames)
  ],
  version: [
    "gen_ai.agent.version",
    "traceloop.entity.version",
    "langfuse.version",
    ...below(...versionNames),
    "langfuse.release"
  ]
}

/** The names of the same in the object that OpenInference has as `metadata`. */
const inMetadata: Readonly<Record<keyof Group, Keys>> = {
  session: sessionNames,
  person: personNames,
  agent: agentNames,
  version: versionNames
}

/** Metadata that is longer is not looked into (characters). */
const maxMetadata = 16 * 1024

const textOf = (value: Value | undefined): string | undefined => {
  if (typeof value === "number" || typeof value === "bigint") return String(value)
  return typeof value === "string" && value !== "" ? value : undefined
}

const metadataOf = (attributes: Attributes): Readonly<Record<string, Value>> => {
  const text = attributes.get("metadata")
  if (typeof text !== "string" || text.length > maxMetadata || !text.startsWith("{")) return {}
  try {
    return JSON.parse(text) as Readonly<Record<string, Value>>
  } catch {
    return {}
  }
}

const said = (attributes: Attributes, field: keyof Group): string | undefined => {
  for (const key of keys[field]) {
    const text = textOf(attributes.get(key))
    if (text !== undefined) return text
  }
  if (!attributes.has("metadata")) return undefined
  const metadata = metadataOf(attributes)
  return inMetadata[field].map((name) => textOf(metadata[name])).find((text) => text !== undefined)
}

/** Some emitters name an agent by the name of its span alone. */
const agentOfName = ({ attributes, name }: Span): string | undefined => {
  if (
    attributes.get("openinference.span.kind") === "AGENT" ||
    attributes.get("langfuse.observation.type") === "agent"
  ) {
    return textOf(name)
  }
  return attributes.get("genkit:type") === "flowStep" || attributes.get("genkit:metadata:subtype") === "flow"
    ? textOf(attributes.get("genkit:name"))
    : undefined
}

const ofSpan = (span: Span, field: keyof Group): string | undefined =>
  said(span.attributes, field) ?? (field === "agent" ? agentOfName(span) : undefined)

/** Programs whose version of the service is that of something else: of a framework, of Node, of an SDK. */
const othersVersion = /^(?:@mastra\/|gemini-cli$)/

const ofResource = ({ resource, scope }: Span): Group => {
  const service = textOf(resource.get("service.name"))
  return {
    session: textOf(resource.get("session.id")),
    person: textOf(resource.get("user.id")) ?? textOf(resource.get("enduser.id")),
    agent:
      textOf(resource.get("gen_ai.agent.name")) ??
      (service?.startsWith("unknown_service") === true ? undefined : service),
    version:
      othersVersion.test(scope.name) || resource.get("service.namespace") === "sentry"
        ? undefined
        : textOf(resource.get("service.version"))
  }
}

const fields = ["session", "person", "agent", "version"] as const

const known = new WeakMap<Span, Group>()

/** What a span itself says. Many others may ask for it: all that are below it. */
const ownOf = (span: Span): Group => {
  const own = known.get(span)
  if (own !== undefined) return own
  const found: Group = Object.fromEntries(fields.map((field) => [field, ofSpan(span, field)]))
  known.set(span, found)
  return found
}

/** What is read of a resource. */
const resourceKeys =
  /^(?:service\.(?:name|version|namespace)|session\.id|user\.id|enduser\.id|gen_ai\.agent\.name|telemetry\.sdk\.\w+|process\.runtime\.(?:name|version)|os\.(?:type|name)|host\.arch)$/

/** The longest text of a resource or a scope that is kept (UTF-16 units): each span has it. */
const maxCommonText = 300

export const commonText = (text: string): string => text.slice(0, maxCommonText).toWellFormed()

/** A resource without what nothing reads of it. */
export const slimResource = (resource: Attributes): Attributes =>
  new Map(
    Array.from(resource).flatMap(([key, value]): ReadonlyArray<readonly [string, Value]> => {
      if (!resourceKeys.test(key) || typeof value === "object") return []
      return [[key, typeof value === "string" ? commonText(value) : value]]
    })
  )

/** What all spans that say it have in common. */
export const commonOf = (spans: ReadonlyArray<Span>): Group => {
  const own = spans.map(ownOf)
  const only = (field: keyof Group) => {
    const values = new Set(own.map((group) => group[field]).filter((value) => value !== undefined))
    return values.size === 1 ? Array.from(values)[0] : undefined
  }
  return { session: only("session"), person: only("person"), agent: only("agent"), version: only("version") }
}

/**
 * Whose a span is. `ancestors` are those that are known, from the nearest on. Where some are not, `trace` is what all spans of the trace have in
 * common that say it.
 */
export const groupOf = (span: Span, ancestors: ReadonlyArray<Span>, trace: Group = {}): Group => {
  const resource = ofResource(span)
  let { agent, person, session, version } = ownOf(span)
  for (const ancestor of ancestors) {
    const own = ownOf(ancestor)
    session ??= own.session
    person ??= own.person
    agent ??= own.agent
    version ??= own.version
  }
  return {
    session: session ?? trace.session ?? resource.session,
    person: person ?? trace.person ?? resource.person,
    agent: agent ?? trace.agent ?? resource.agent,
    version: version ?? trace.version ?? resource.version
  }
}

/** Whether children of a span that come later may need what it says. */
export const isContext = (span: Span): boolean =>
  kindOf(span) !== "call" && fields.some((field) => ownOf(span)[field] !== undefined)

const named = new Set([...Object.values(keys).flat(), "metadata"])

/** Only what children may need of a span, for one that is nothing else. */
export const contextOf = (span: Span): Span => ({
  ...span,
  events: [],
  attributes: new Map(
    Array.from(span.attributes).filter(
      ([key]) => named.has(key) || isMarkOfKind(key) || isOfParent(key) || isOfError(key)
    )
  )
})
