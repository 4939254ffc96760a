/** The whole contract. `groups/` declares the endpoints; the router's files of the same names implement them. */
import { HttpApi, OpenApi } from "effect/http-api"
import { Authorization } from "./Authorization.ts"
import { AgentVersions } from "./groups/AgentVersions.ts"
import { Agents } from "./groups/Agents.ts"
import { Audit } from "./groups/Audit.ts"
import { Events } from "./groups/Events.ts"
import { Export } from "./groups/Export.ts"
import { Failures } from "./groups/Failures.ts"
import { Fingerprints } from "./groups/Fingerprints.ts"
import { Me } from "./groups/Me.ts"
import { People } from "./groups/People.ts"
import { Search } from "./groups/Search.ts"
import { Sessions } from "./groups/Sessions.ts"
import { Shared } from "./groups/Shared.ts"
import { SignIn } from "./groups/SignIn.ts"
import { StorageUse } from "./groups/StorageUse.ts"
import { Usage } from "./groups/Usage.ts"
import { System } from "./groups/System.ts"
import { transform } from "./OpenApiDocument.ts"
import { RequestErrors } from "./RequestErrors.ts"

export const prefix = "/api/v1"

export class TachographApi extends HttpApi.make("tachograph")
  .add(
    Events,
    Fingerprints,
    Agents,
    AgentVersions,
    People,
    Search,
    Sessions,
    Shared,
    Failures,
    Usage,
    StorageUse,
    Audit,
    Export,
    Me
  )
  .prefix(prefix)
  .middleware(RequestErrors)
  .middleware(Authorization)
  .add(SignIn.prefix(prefix), System)
  .annotateMerge(
    OpenApi.annotations({
      title: "Tachograph",
      version: "0.1.0",
      description: "Records what AI agents do: every call to a model provider, verbatim.",
      transform,
      license: { name: "MIT", identifier: "MIT" }
    })
  ) {}
