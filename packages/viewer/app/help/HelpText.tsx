import * as Route from "../route/Route.ts"
import { texts } from "./texts.ts"

/** `page` is the name of the page, as `Page.tsx` has it. */
export const HelpText = ({ page }: { readonly page: string }) => {
  const text = texts[page]
  if (text === undefined) return null
  const [name, at] = text.docs
  return (
    <>
      {text.sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <p>
        <a href={Route.to(["docs", name], { at })}>More in the documentation</a>
      </p>
    </>
  )
}
