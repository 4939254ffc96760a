/** What signing in by OpenID Connect needs to know. */
import type { ProjectId, Scope } from "@tachograph/core"
import type * as Redacted from "effect/Redacted"

/** What the people of a group may do. */
export interface GroupGrant {
  readonly group: string
  readonly project: ProjectId
  readonly scopes: ReadonlyArray<Scope>
}

export interface Options {
  readonly issuer: URL
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** Where browsers find this server, without a slash at its end. */
  readonly baseUrl: string
  /** The scopes of OpenID Connect that are asked for, with spaces between them. */
  readonly scope: string
  /** The claim that holds a person's groups. */
  readonly groupsClaim: string
  readonly grants: ReadonlyArray<GroupGrant>
  /** How long a person stays signed in (ms). */
  readonly lifetimeMs: number
}

/**
 * What a person of these groups may do: the first grant that fits names the project, and the scopes of all that fit in this project add
 * up. Undefined if none fits.
 */
export const grantOf = (
  grants: ReadonlyArray<GroupGrant>,
  groups: ReadonlyArray<string>
): Pick<GroupGrant, "project" | "scopes"> | undefined => {
  const fitting = grants.filter(({ group }) => groups.includes(group))
  const project = fitting[0]?.project
  if (project === undefined) return undefined
  const scopes = fitting.flatMap((grant) => (grant.project === project ? grant.scopes : []))
  return { project, scopes: Array.from(new Set(scopes)) }
}

/** The path of the server's own path `name`, as a browser asks for it: a reverse proxy may serve all of it below another one. */
export const pathOf = ({ baseUrl }: Pick<Options, "baseUrl">, name: string): string =>
  `${new URL(baseUrl).pathname.replace(/\/$/, "")}${name}`
