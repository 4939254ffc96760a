/** The operations that go through all that is stored, and compare it with what is counted. */
import type { SqlClient } from "effect/sql"
import type * as Projects from "../names/Projects.ts"
import type * as Operations from "../sql/Operations.ts"
import * as InventoryPages from "./InventoryPages.ts"
import * as NextSession from "./NextSession.ts"
import * as ProjectAccount from "./ProjectAccount.ts"
import * as SessionAccount from "./SessionAccount.ts"
import * as TableChecks from "./TableChecks.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, { operations }: Operations.Operations) =>
  operations({
    ...InventoryPages.make(sql, projects),
    ...TableChecks.make(sql),
    nextSession: NextSession.make(sql, projects),
    sessionAccount: SessionAccount.make(sql, projects),
    projectAccount: ProjectAccount.make(sql, projects)
  })
