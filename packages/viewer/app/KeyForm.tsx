/** Asks for an API key, where none came with the link and the host's cookies say nothing. */
import { useState } from "preact/hooks"

interface Props {
  readonly enter: (key: string) => void
  readonly wasWrong: boolean
}

export const KeyForm = ({ enter, wasWrong }: Props) => {
  const [key, setKey] = useState("")
  return (
    <main class="key-form">
      <h1>Tachograph</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (key.trim() !== "") enter(key.trim())
        }}
      >
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={key}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
          aria-describedby="key-help"
          aria-invalid={wasWrong}
          // The page has nothing else to do.
          ref={(element) => element?.focus()}
        />
        <button type="submit" class="primary">
          Open
        </button>
      </form>
      {wasWrong && <p role="alert">This key opens nothing: it may be mistyped, expired or revoked.</p>}
      <p id="key-help">
        A key with the scope <code>read</code> is enough: <code>tachograph keys create NAME --scope read</code> makes
        one. It stays in this tab, and is forgotten when the tab is closed.
      </p>
    </main>
  )
}
