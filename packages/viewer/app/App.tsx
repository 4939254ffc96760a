/** The frame of all pages: who may read, the header, and the page of the current place. */
import { useCallback, useEffect, useState } from "preact/hooks"
import { KeyForm } from "./KeyForm.tsx"
import { Header } from "./Header.tsx"
import { Page } from "./Page.tsx"
import { Failed, Loading } from "./parts/States.tsx"
import * as Client from "./server/Client.ts"
import * as Key from "./server/Key.ts"
import { useAnswer } from "./server/useAnswer.ts"
import type { Me } from "./server/Types.ts"

export const App = () => {
  const [isRefused, setRefused] = useState(false)
  const me = useAnswer((signal) => Client.get<Me>(["me"], {}, signal), "me")
  useEffect(() => Client.whenUnauthorized(() => setRefused(true)), [])
  const enter = useCallback((key: string) => {
    Key.set(key)
    setRefused(false)
    me.again()
  }, [])
  const leave = useCallback(() => {
    Key.set(undefined)
    setRefused(true)
  }, [])
  if (isRefused) return <KeyForm enter={enter} wasWrong={Key.get() !== undefined} />
  if (me.error !== undefined) return <Failed isWhole error={me.error} again={me.again} />
  if (me.value === undefined) return <Loading what="the recorder" />
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skip(event)}>
        Skip to the content
      </a>
      <Header me={me.value} leave={leave} />
      <main id="main" tabIndex={-1}>
        <Page me={me.value} />
      </main>
    </>
  )
}

/** The fragment is the place, so that a link to an element of the page is not one. */
const skip = (event: Event): void => {
  event.preventDefault()
  document.querySelector<HTMLElement>("#main")?.focus()
}
