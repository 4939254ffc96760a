/** Where the person was when they went to log in: the fragment does not go through a login, which leaves the page. */
const name = "tachograph.return"

export const remember = (): void => {
  try {
    sessionStorage.setItem(name, location.hash)
  } catch {
    // Storage is blocked: the login leads to the first page.
  }
}

/** Goes back there, once, unless a link leads somewhere else. Before the pages read the place. */
export const restore = (): void => {
  try {
    const place = sessionStorage.getItem(name)
    sessionStorage.removeItem(name)
    if (place !== null && /^(?:#\/?)?$/.test(location.hash)) history.replaceState(history.state, "", place || "#/")
  } catch {
    // As above.
  }
}
