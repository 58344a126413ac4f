"""A real browser without a window, that tells what it wrote to its console and what it fetched."""

import base64
import json
import os
import shutil
from contextlib import contextmanager

import pytest

WIDE, PHONE = (1100, 900), (390, 844)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser_and_driver():
    """Return the programs; skip where one is not installed."""
    pytest.importorskip("selenium", reason="the page is tested with selenium")
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("there is no chromium with chromedriver on this machine")
    return browser, driver


class Browser:
    """A page in Chromium, as the tests look at it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, page, *, size=WIDE, dark=False, script=True):
        """Show a page from disk, as if the window, the colours and the settings were these."""
        self.driver.get("about:blank")  # nothing of an earlier page is left to wait for
        self.tell("Emulation.setScriptExecutionDisabled", value=not script)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])
        width, height = size
        self.tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=size == PHONE,
        )
        self.logs("browser"), self.logs("performance")  # what an earlier page has left
        self.driver.get(page.as_uri())

    def tell(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def logs(self, kind):
        return self.driver.get_log(kind)

    def requests(self):
        """Return the addresses of all that was fetched since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.logs("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def wait_for(self, condition):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 60, 0.05).until(lambda _: condition())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        from selenium.webdriver.common.by import By

        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def point_at(self, x, y):
        """Move the mouse to a place in the window."""
        self.tell("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path):
        """Write a picture of the whole page."""
        width, height = self.run(
            "return [window.innerWidth, document.documentElement.scrollHeight]"
        )
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.tell("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def open_browser():
    """Start a browser, and end it."""
    program, driver_program = browser_and_driver()
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("headless=new", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    if os.geteuid() == 0:  # its sandbox refuses to work for root
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_program))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
