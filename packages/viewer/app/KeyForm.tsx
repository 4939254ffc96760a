/** Asks for an API key. */
import { useKeyField } from "./parts/useKeyField.ts"
import { Plain } from "./text/Plain.tsx"

interface Props {
  readonly enter: (key: string) => void
  readonly wasWrong: boolean
  /** Whether the page has nothing else to do. */
  readonly isAlone?: boolean
}

export const KeyForm = ({ enter, isAlone = false, wasWrong }: Props) => {
  const { field, foreign, onSubmit } = useKeyField(enter)
  return (
    <>
      <form onSubmit={onSubmit}>
        <label for="key">API key</label>
        <input
          id="key"
          {...field}
          aria-describedby="key-help"
          aria-invalid={wasWrong || foreign !== undefined}
          ref={(element) => {
            if (isAlone) element?.focus()
          }}
        />
        <button type="submit" class="primary">
          Open
        </button>
      </form>
      {foreign !== undefined && (
        <p role="alert">
          This is not a key: no key has the character <Plain text={foreign} />.
        </p>
      )}
      {wasWrong && foreign === undefined && (
        <p role="alert">This key opens nothing: it may be mistyped, expired or revoked.</p>
      )}
      <p id="key-help">
        A key with the scope <code>read</code> is enough: <code>tachograph keys create --name NAME --scope read</code>{" "}
        makes one. It stays in this tab and in those that are opened from it, until each is closed.
      </p>
    </>
  )
}
