/** The frame of all pages: who may read, the header, and the page of the current place. */
import { Fragment } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Header } from "./header/Header.tsx"
import { Page } from "./Page.tsx"
import { Failed, Loading, OtherKey } from "./parts/States.tsx"
import * as Client from "./server/Client.ts"
import * as Key from "./server/Key.ts"
import { useAnswer } from "./server/useAnswer.ts"
import * as Zone from "./settings/Zone.ts"
import { SignIn } from "./SignIn.tsx"

export const App = () => {
  const [isRefused, setRefused] = useState(false)
  // Counts the keys that were set.
  const [round, setRound] = useState(0)
  const me = useAnswer((signal) => Client.api.getMe({}, { signal }), `me ${round}`)
  // All that is shown depends on it.
  const zone = Zone.setting.use()
  useEffect(() => Client.whenUnauthorized(() => setRefused(true)), [])
  useEffect(
    () =>
      Key.whenSet(() => {
        setRefused(Key.get() === undefined)
        setRound((round) => round + 1)
      }),
    []
  )
  useEffect(() => {
    if (me.value !== undefined) Key.remember(me.value.project)
  }, [me.value])
  if (isRefused) {
    return <SignIn enter={Key.set} wasWrong={Key.get() !== undefined} hasEnded={me.value !== undefined} />
  }
  if (me.error !== undefined) {
    return (
      <Failed isWhole error={me.error} again={me.again}>
        <OtherKey />
      </Failed>
    )
  }
  if (me.value === undefined) return <Loading what="the recorder" />
  // What another key opened is not shown with this one.
  return (
    <Fragment key={round}>
      <a class="skip" href="#main" onClick={(event) => skip(event)}>
        Skip to the content
      </a>
      <Header me={me.value} />
      <main id="main" tabIndex={-1}>
        <Page key={zone} me={me.value} />
      </main>
    </Fragment>
  )
}

/** The fragment is the place, so that a link to an element of the page is not one. */
const skip = (event: Event): void => {
  event.preventDefault()
  document.querySelector<HTMLElement>("#main")?.focus()
}
