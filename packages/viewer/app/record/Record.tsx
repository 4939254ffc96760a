/** How to record a program with this server: the ways, each with what is to be copied. */
import { useState } from "preact/hooks"
import { Tabs } from "../parts/Tabs.tsx"
import * as Route from "../route/Route.ts"
import * as Client from "../server/Client.ts"
import * as Key from "../server/Key.ts"
import type { Me } from "../server/Types.ts"
import { useAnswer } from "../server/useAnswer.ts"
import * as Copy from "../text/Copy.ts"
import * as Credential from "./Credential.ts"
import { type Snippet, type Way, ways } from "./Ways.ts"

/** Where the proxy is off, what works without another start of the server comes first. */
const firstOf = (me: Me): Way => ways.find(({ upstream }) => me.proxy_upstreams !== null || upstream === undefined)!

interface Props {
  readonly me: Me
  /** The id of a way. */
  readonly chosen: string | null
}

export const Record = ({ chosen, me }: Props) => {
  const [isShown, setShown] = useState(false)
  const way = ways.find(({ id }) => id === chosen) ?? firstOf(me)
  const key = canRecord(me) ? Key.get() : undefined
  const copied = key === undefined ? Credential.ofVariable : Credential.ofKey(key)
  const address = Credential.addressOf(document.baseURI)
  const texts = (credential: Credential.Credential) => way.snippets(address, credential)
  const shown = texts(key === undefined || isShown ? copied : Credential.hidden)
  return (
    <div class="record">
      <Tabs
        label="Ways to record"
        tabs={ways.map(({ id, name }) => ({ id, name }))}
        selected={way.id}
        panel="record-panel"
        show={(id) => Route.amend({ way: id })}
      />
      <div id="record-panel" role="tabpanel" aria-labelledby={`tab-${way.id}`} class="record-panel">
        <p>{way.about}</p>
        {way.upstream !== undefined && <ProxyState upstream={way.upstream} upstreams={me.proxy_upstreams} />}
        {texts(copied).map((snippet, index) => (
          <Copied key={snippet.title} snippet={snippet} shown={shown[index]!.text} />
        ))}
        <KeyLine me={me} hasKey={key !== undefined} isShown={isShown} toggle={() => setShown(!isShown)} />
        <p class="hint">
          More: <a href={Route.to(["docs", way.docs[0]], { at: way.docs[1] })}>{way.docs[2]}</a>
        </p>
      </div>
    </div>
  )
}

const canRecord = ({ scopes }: Me): boolean => scopes.includes("record") || scopes.includes("admin")

const Copied = ({ shown, snippet: { text, title } }: { readonly snippet: Snippet; readonly shown: string }) => (
  <figure>
    <figcaption>
      <span>{title}</span>
      <button type="button" class="primary" aria-label={`Copy: ${title}`} onClick={() => void Copy.text(text)}>
        Copy
      </button>
    </figcaption>
    <pre tabIndex={0} aria-label={title} role="region">
      <code>{shown}</code>
    </pre>
  </figure>
)

const ProxyState = ({
  upstream,
  upstreams
}: {
  readonly upstream: string
  readonly upstreams: ReadonlyArray<string> | null
}) => {
  if (upstreams?.includes(upstream) === true) return null
  return (
    <p class="warn">
      <b>The proxy of this server is off.</b> Start the server with <code>--proxy</code> first:{" "}
      <code>tachograph serve --proxy</code>, in a clone <code>npm start -- --proxy</code>, and in a server of your own{" "}
      <code>{"createTachograph({ proxy: true })"}</code>.
    </p>
  )
}

interface KeyLineProps {
  readonly me: Me
  readonly hasKey: boolean
  readonly isShown: boolean
  readonly toggle: () => void
}

/** Whose key the texts have. */
const KeyLine = ({ hasKey, isShown, me, toggle }: KeyLineProps) => {
  if (!hasKey) return <NoKey me={me} />
  return (
    <>
      <p class="hint">
        The key of this page is copied with the text.{" "}
        <button type="button" class="link" onClick={toggle}>
          {isShown ? "Hide the key" : "Show the key"}
        </button>
      </p>
      <p class="hint">
        For an application, a key that only records is safer: <MakeKey me={me} />
      </p>
    </>
  )
}

/** Where the page has no key that records. Whoever has signed in to a host by its own rule makes none here: keys open nothing there. */
const NoKey = ({ me }: { readonly me: Me }) => {
  const { error, value } = useAnswer((signal) => Client.api.getSignIn({}, { signal }), "sign-in")
  if (value === undefined && error === undefined) return null
  if (value?.by === "application") {
    return (
      <p class="hint">
        <b>This page has no key.</b> The application that serves it decides who may record: put what it accepts from
        programs into <code>{Credential.variable}</code>.
      </p>
    )
  }
  return (
    <p class="hint">
      <b>{Key.get() === undefined ? "This page has no key." : "The key of this page may read, and not record."}</b> Make
      one that records, and put it into <code>{Credential.variable}</code>: <MakeKey me={me} />
    </p>
  )
}

const MakeKey = ({ me }: { readonly me: Me }) => (
  <>
    <code>{Credential.commandFor(me.project)}</code>, in the folder of the server or with its <code>--storage</code>. In
    a clone, write <code>npm run --silent tachograph --</code> for <code>tachograph</code>.
  </>
)
