/** Which addresses of a stranger may be followed: those that a browser opens as pages or as mail, and nothing that runs. */
const allowed = /^(?:https?:\/\/|mailto:)/i

export const safeHref = (href: string): string | undefined => {
  const trimmed = href.trim()
  return allowed.test(trimmed) && URL.canParse(trimmed) ? trimmed : undefined
}

/** Images whose bytes are in the text, of kinds that hold no script. */
const raster = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i

/** Longest image that is shown (characters of its URL). */
const maxImage = 12_000_000

export const safeImage = (src: string): string | undefined =>
  src.length <= maxImage && raster.test(src.slice(0, 200)) && raster.test(src) ? src : undefined
