/** What a server needs to know of each endpoint beside its shapes. An endpoint that has no line here does not compile. */
import { type Scope, scopes as anyScope } from "@tachograph/core/domain/ApiKey"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { TachographApi } from "./TachographApi.ts"

interface Endpoint {
  /** A key needs one of them, or `admin`. Undefined where no key is needed. */
  readonly scopes: ReadonlyArray<Scope> | undefined
  /** Whether its body is the event of a call: by that one's limit, and through the commit queue. */
  readonly records?: boolean
  /** Whether its body is read as it comes, and may have any length. */
  readonly streamsBody?: boolean
  /** Whether it reads many rows, whole sessions or a text of any size, so that another thread reads, or one event of any size. */
  readonly reads?: "much" | "event"
}

type Groups<Api> = Api extends HttpApi.HttpApi<string, infer Group> ? Group : never
export type EndpointName = HttpApiEndpoint.Identifier<HttpApiGroup.Endpoints<Groups<typeof TachographApi>>>

const forRecorders = ["record"] as const
const forAll = ["record", "read"] as const
const forReaders = ["read"] as const
const forAdmins = ["admin"] as const

export const endpoints: Readonly<Record<EndpointName, Endpoint>> = {
  createEvent: { scopes: forRecorders, records: true },
  listEvents: { scopes: forReaders, reads: "much" },
  streamEvents: { scopes: forReaders, reads: "much" },
  getEvent: { scopes: forReaders, reads: "event" },
  getEventMessages: { scopes: forReaders, reads: "event" },
  getEventInputs: { scopes: forReaders, reads: "event" },
  getEventOutput: { scopes: forReaders, reads: "event" },

  listSessions: { scopes: forReaders, reads: "much" },
  getSession: { scopes: forReaders, reads: "much" },
  eraseSession: { scopes: forAdmins },
  listSessionMessages: { scopes: forReaders, reads: "much" },
  listSessionCalls: { scopes: forReaders, reads: "much" },
  search: { scopes: forReaders, reads: "much" },
  getSharedText: { scopes: forReaders, reads: "much" },
  readUsage: { scopes: forReaders, reads: "much" },
  readStorage: { scopes: forReaders, reads: "much" },

  createFingerprint: { scopes: forRecorders },
  listFingerprints: { scopes: forReaders, reads: "much" },
  getFingerprint: { scopes: forReaders },
  createAgent: { scopes: forRecorders },
  listAgents: { scopes: forReaders, reads: "much" },
  getAgent: { scopes: forAll },
  createAgentVersion: { scopes: forRecorders },
  listAgentVersions: { scopes: forReaders, reads: "much" },
  getAgentVersion: { scopes: forAll },
  deprecateAgentVersion: { scopes: forRecorders },
  listConfigurations: { scopes: forReaders, reads: "much" },
  createPerson: { scopes: forRecorders },
  updatePerson: { scopes: forRecorders },
  listPeople: { scopes: forReaders, reads: "much" },
  getPerson: { scopes: forAll },
  erasePerson: { scopes: forAdmins },

  export: { scopes: forReaders, reads: "much" },
  import: { scopes: forAdmins, streamsBody: true },
  listAudit: { scopes: forAdmins },
  getMe: { scopes: anyScope },

  health: { scopes: undefined },
  ready: { scopes: undefined },
  metrics: { scopes: undefined }
}
