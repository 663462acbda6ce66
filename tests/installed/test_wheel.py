"""A server installed from the wheel works as one in a checkout."""

import subprocess
import tarfile
from pathlib import Path
from zipfile import ZipFile

from openai import OpenAI
from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import chromium_path
from tests.installed.conftest import Installed, output_of
from tests.server import ROOT

SHIPPED = ("agents", "personas", "skills", "static", "stories", "templates")


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.split())


def test_the_wheel_holds_every_tracked_file(wheel: Path) -> None:
    inside = ZipFile(wheel).namelist()
    assert [name for name in inside if name.endswith(".dist-info/sboms/bill-of-materials.cdx.json")]
    names = {name for name in inside if ".dist-info/" not in name}
    shipped = {f"mrpvm/shipped/{name}" for name in tracked(*SHIPPED)}
    assert names == tracked("mrpvm", "sessions_app") | shipped


def test_the_sdist_holds_what_the_wheel_is_made_of(distributions: Path) -> None:
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked("mrpvm", "sessions_app", *SHIPPED, "LICENSE", "pyproject.toml", "manage.py") <= names


def test_a_first_turn_and_its_page(installed: Installed) -> None:
    with installed.server(MRPVM_DEMO="1") as server:
        data = installed.home / ".local" / "share" / "mrpvm"
        assert str(data) in server.output
        assert (data / "db.sqlite3").is_file()
        assert list(installed.folder.iterdir()) == []
        client = OpenAI(base_url=f"{server.url}/v1", api_key=server.api_key)
        told = client.responses.create(model="mrpvm", input="My dog is called Rex.")
        asked = client.responses.create(model="mrpvm", input="What is my dog called?", previous_response_id=told.id)
        assert "Rex" in asked.output_text
        with sync_playwright() as playwright:
            arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
            page = playwright.chromium.launch(executable_path=chromium_path(), args=arguments).new_page()
            missing: list[str] = []
            page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)
            page.goto(server.login_link)
            page.get_by_role("link", name="My dog is called Rex.").first.click()
            expect(page.get_by_text("Noted: My dog is called Rex.")).to_be_visible()
            page.goto(f"{server.url}/plugins")
            page.goto(f"{server.url}/admin/")
            assert missing == []
            page.context.browser.close()
        assert server.stop()[0] == 0


def test_commands_from_another_folder_use_the_same_data(installed: Installed) -> None:
    installed.run("migrate", "--verbosity", "0")
    with installed.server():
        pass
    assert installed.run("createkey", "from a script").strip().startswith("mrp_")
    assert "ada is viewer in Default" in installed.run("user", "ada", "--role", "viewer")
    assert "nothing to do" in installed.run("reindex")
    listed = installed.run()
    assert all(f"  {name} " in listed for name in ("serve", "createkey", "user", "migrate", "reindex"))


def test_the_same_files_give_the_same_distributions(distributions: Path, tmp_path: Path) -> None:
    output_of("make", "dist", f"DIST={tmp_path}")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        file.name: file.read_bytes() for file in distributions.iterdir()
    }
