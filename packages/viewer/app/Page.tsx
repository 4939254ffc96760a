/** Which page a place has. All but the first are loaded when they are first shown. */
import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"
import { SessionsPage } from "./pages/sessions/SessionsPage.tsx"
import { Empty, Failed, Loading } from "./parts/States.tsx"
import type { PageProps } from "./route/PageProps.ts"
import * as Route from "./route/Route.ts"
import { ServerError } from "./server/Client.ts"
import type { Me } from "./server/Types.ts"

type Load = () => Promise<ComponentType<PageProps>>

/** By the name of the page, and how many segments follow. */
const pages: Readonly<Record<string, Load>> = {
  "agents 0": () => import("./pages/agents/AgentsPage.tsx").then(({ AgentsPage }) => AgentsPage),
  "agents 1": () => import("./pages/agents/AgentPage.tsx").then(({ AgentPage }) => AgentPage),
  "agents 2": () => import("./pages/compare/ComparePage.tsx").then(({ ComparePage }) => ComparePage),
  "calls 0": () => import("./pages/calls/CallsPage.tsx").then(({ CallsPage }) => CallsPage),
  "diff 1": () => import("./pages/diff/DiffPage.tsx").then(({ DiffPage }) => DiffPage),
  "docs 0": () => import("./pages/docs/DocsPage.tsx").then(({ DocsPage }) => DocsPage),
  "docs 1": () => import("./pages/docs/DocPage.tsx").then(({ DocPage }) => DocPage),
  "events 1": () => import("./pages/event/EventPage.tsx").then(({ EventPage }) => EventPage),
  "failures 0": () => import("./pages/failures/FailuresPage.tsx").then(({ FailuresPage }) => FailuresPage),
  "fingerprints 0": () =>
    import("./pages/fingerprints/FingerprintsPage.tsx").then(({ FingerprintsPage }) => FingerprintsPage),
  "fingerprints 1": () =>
    import("./pages/fingerprint/FingerprintPage.tsx").then(({ FingerprintPage }) => FingerprintPage),
  "live 0": () => import("./pages/live/LivePage.tsx").then(({ LivePage }) => LivePage),
  "overview 0": () => import("./pages/overview/OverviewPage.tsx").then(({ OverviewPage }) => OverviewPage),
  "people 0": () => import("./pages/people/PeoplePage.tsx").then(({ PeoplePage }) => PeoplePage),
  "people 1": () => import("./pages/person/PersonPage.tsx").then(({ PersonPage }) => PersonPage),
  "record 0": () => import("./pages/record/RecordPage.tsx").then(({ RecordPage }) => RecordPage),
  "search 0": () => import("./pages/search/SearchPage.tsx").then(({ SearchPage }) => SearchPage),
  "shared 1": () => import("./pages/shared/SharedPage.tsx").then(({ SharedPage }) => SharedPage),
  "sessions 1": () => import("./pages/session/SessionPage.tsx").then(({ SessionPage }) => SessionPage)
}

const loaded = new Map<string, ComponentType<PageProps>>()

const Loaded = ({ load, name, ...props }: PageProps & { readonly name: string; readonly load: Load }) => {
  const [state, setState] = useState<{ readonly name?: string; readonly hasFailed?: boolean }>({})
  useEffect(() => {
    if (loaded.has(name)) return
    load().then(
      (page) => {
        loaded.set(name, page)
        setState({ name })
      },
      () => setState({ name, hasFailed: true })
    )
  }, [name])
  const Component = loaded.get(name)
  if (Component !== undefined) return <Component {...props} key={props.rest.join("/")} />
  if (state.name === name && state.hasFailed === true) {
    // A browser may remember that a module failed, and another version of the server has files of other names.
    return <Failed isWhole error={new ServerError(0, "offline")} again={() => location.reload()} />
  }
  return <Loading what="the page" />
}

export const Page = ({ me }: { readonly me: Me }) => {
  const { path, query } = Route.useRoute()
  const [first = "sessions", ...rest] = path
  if (first === "sessions" && rest.length === 0) return <SessionsPage me={me} query={query} />
  const name = `${first} ${rest.length}`
  const load = pages[name]
  if (load !== undefined) return <Loaded key={name} name={name} load={load} me={me} query={query} rest={rest} />
  return (
    <Empty title="There is no such page" isWhole>
      <p>
        <a href="#/">To the sessions</a>
      </p>
    </Empty>
  )
}
