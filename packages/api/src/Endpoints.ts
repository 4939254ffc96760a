/** What a server needs to know of each endpoint beside its shapes. An endpoint that has no line here does not compile. */
import { type Scope, scopes as anyScope } from "@tachograph/core/domain/ApiKey"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { TachographApi } from "./TachographApi.ts"

interface Endpoint {
  /** A key needs one of them, or `admin`. Undefined where no key is needed. */
  readonly scopes: ReadonlyArray<Scope> | undefined
  /**
   * `event`: the call of a model, which may be as long as one and goes through the commit queue. `stream`: read as it comes, of any length;
   * `batch`: likewise, by a limit of its own. `other`: by the limit of all others, or none.
   */
  readonly body: "event" | "stream" | "batch" | "other"
  /** `much`: many rows, whole sessions or a text of any size, so that another thread reads. `event`: one event of any size. */
  readonly reads: "much" | "event" | "little"
}

type Groups<Api> = Api extends HttpApi.HttpApi<string, infer Group> ? Group : never
export type EndpointName = HttpApiEndpoint.Identifier<HttpApiGroup.Endpoints<Groups<typeof TachographApi>>>

const forRecorders = ["record"] as const
const forAll = ["record", "read"] as const
const forReaders = ["read"] as const
const forAdmins = ["admin"] as const

export const endpoints: Readonly<Record<EndpointName, Endpoint>> = {
  createEvent: { scopes: forRecorders, body: "event", reads: "little" },
  createEvents: { scopes: forRecorders, body: "batch", reads: "little" },
  listEvents: { scopes: forReaders, body: "other", reads: "much" },
  streamEvents: { scopes: forReaders, body: "other", reads: "much" },
  getEvent: { scopes: forReaders, body: "other", reads: "event" },
  getEventMessages: { scopes: forReaders, body: "other", reads: "event" },
  getEventInputs: { scopes: forReaders, body: "other", reads: "event" },
  getEventOutput: { scopes: forReaders, body: "other", reads: "event" },
  eraseEvent: { scopes: forAdmins, body: "other", reads: "little" },

  listSessions: { scopes: forReaders, body: "other", reads: "much" },
  getSession: { scopes: forReaders, body: "other", reads: "much" },
  eraseSession: { scopes: forAdmins, body: "other", reads: "little" },
  listSessionMessages: { scopes: forReaders, body: "other", reads: "much" },
  listSessionCalls: { scopes: forReaders, body: "other", reads: "much" },
  listSessionSteps: { scopes: forReaders, body: "other", reads: "much" },
  search: { scopes: forReaders, body: "other", reads: "much" },
  searchSessions: { scopes: forReaders, body: "other", reads: "much" },
  getSharedText: { scopes: forReaders, body: "other", reads: "much" },
  listFailures: { scopes: forReaders, body: "other", reads: "much" },
  readUsage: { scopes: forReaders, body: "other", reads: "much" },
  readStorage: { scopes: forReaders, body: "other", reads: "much" },

  createFingerprint: { scopes: forRecorders, body: "other", reads: "little" },
  listFingerprints: { scopes: forReaders, body: "other", reads: "much" },
  getFingerprint: { scopes: forReaders, body: "other", reads: "little" },
  createAgent: { scopes: forRecorders, body: "other", reads: "little" },
  listAgents: { scopes: forReaders, body: "other", reads: "much" },
  getAgent: { scopes: forAll, body: "other", reads: "little" },
  createAgentVersion: { scopes: forRecorders, body: "other", reads: "little" },
  listAgentVersions: { scopes: forReaders, body: "other", reads: "much" },
  getAgentVersion: { scopes: forAll, body: "other", reads: "little" },
  deprecateAgentVersion: { scopes: forRecorders, body: "other", reads: "little" },
  listConfigurations: { scopes: forReaders, body: "other", reads: "much" },
  createPerson: { scopes: forRecorders, body: "other", reads: "little" },
  updatePerson: { scopes: forRecorders, body: "other", reads: "little" },
  listPeople: { scopes: forReaders, body: "other", reads: "much" },
  getPerson: { scopes: forAll, body: "other", reads: "little" },
  erasePerson: { scopes: forAdmins, body: "other", reads: "little" },

  export: { scopes: forReaders, body: "other", reads: "much" },
  import: { scopes: forAdmins, body: "stream", reads: "little" },
  listAudit: { scopes: forAdmins, body: "other", reads: "much" },
  getMe: { scopes: anyScope, body: "other", reads: "little" },

  getSignIn: { scopes: undefined, body: "other", reads: "little" },
  health: { scopes: undefined, body: "other", reads: "little" },
  ready: { scopes: undefined, body: "other", reads: "little" },
  metrics: { scopes: undefined, body: "other", reads: "little" }
}
