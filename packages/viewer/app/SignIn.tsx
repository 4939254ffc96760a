/** Who nothing may be shown to: says what opens the pages here, and leads there. */
import type { ComponentChildren } from "preact"
import { KeyForm } from "./KeyForm.tsx"
import { Failed, Loading } from "./parts/States.tsx"
import * as Return from "./route/Return.ts"
import * as Client from "./server/Client.ts"
import { useAnswer } from "./server/useAnswer.ts"

interface Props {
  readonly enter: (key: string) => void
  readonly wasWrong: boolean
  /** Whether the pages were open before. */
  readonly hasEnded: boolean
}

const Login = ({ children, to }: { readonly children: ComponentChildren; readonly to: string }) => (
  <p>
    <a class="primary" href={to} onClick={Return.remember}>
      {children}
    </a>
  </p>
)

const ByApplication = ({ hasEnded, login, wasWrong }: Props & { readonly login: string | null }) => (
  <main class="key-form">
    <h1>Tachograph</h1>
    {hasEnded && <p role="alert">What you may read here has ended.</p>}
    <p>The application that serves these pages decides who may read them. It has granted you nothing.</p>
    {wasWrong && <p role="alert">Nor does it accept the key that came with the link.</p>}
    {login !== null && <Login to={login}>Log in to the application</Login>}
  </main>
)

const ByProvider = ({ enter, hasEnded, login, wasWrong }: Props & { readonly login: string }) => (
  <main class="key-form">
    <h1>Tachograph</h1>
    {hasEnded && <p role="alert">You are no longer signed in.</p>}
    <Login to={login}>Sign in</Login>
    <details open={wasWrong}>
      <summary>Use an API key instead</summary>
      <KeyForm enter={enter} wasWrong={wasWrong} />
    </details>
  </main>
)

export const SignIn = (props: Props) => {
  const { again, error, value } = useAnswer((signal) => Client.api.getSignIn({}, { signal }), "sign-in")
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="how to sign in" />
  const { by, login } = value
  if (by === "application") return <ByApplication {...props} login={login} />
  if (by === "oidc" && login !== null) return <ByProvider {...props} login={login} />
  return (
    <main class="key-form">
      <h1>Tachograph</h1>
      <KeyForm {...props} isAlone />
    </main>
  )
}
