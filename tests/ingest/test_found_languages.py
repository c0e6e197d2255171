"""Tests of tables with columns in other languages than English."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.found_files import notices_of, texts
from tests.ingest.test_dialogue_files import said
from tests.loader_samples import written

TIMES = (
    ("Zaaknummer;Tijdstip;Afzender;Bericht", "14-11-2025 10:37", "14-11-2025 9:28"),
    ("Gesprek-ID;Aangemaakt;Gebruiker;Tekst", "2025-11-14 10:37", "2025-11-14 09:28"),
    ("Vorgangsnummer;Erstellt am;Benutzer;Inhalt", "14.11.2025 10:37", "14.11.2025 9:28"),
    ("ID conversation;Date et heure;Expéditeur;Texte", "14/11/2025 10:37", "14/11/2025 09:28"),
    ("Numéro de ticket;Date de création;Utilisateur;Contenu", "14/11/2025 10:37", "14/11/2025 09:28"),
    ("ID de conversación;Fecha y hora;Usuario;Texto", "14/11/2025 10:37", "14/11/2025 09:28"),
    ("Conversazione;Data/ora;Utente;Testo", "14/11/2025 10:37", "14/11/2025 09:28"),
    ("Protocolo;Data e hora;Usuário;Conteúdo", "14/11/2025 10:37", "14/11/2025 09:28"),
    ("Ärendenummer;Tidpunkt;Avsändare;Meddelande", "2025-11-14 10:37", "2025-11-14 09:28"),
    ("Samtale-ID;Tidspunkt;Afsender;Besked", "14.11.2025 10:37", "14.11.2025 9:28"),
    ("Rozmowa;Data utworzenia;Nadawca;Treść wiadomości", "14.11.2025 10:37", "14.11.2025 9:28"),
    ("Keskustelu;Aikaleima;Lähettäjä;Viesti", "14.11.2025 10:37", "14.11.2025 9:28"),
    ("Диалог;Дата и время;Отправитель;Сообщение", "14.11.2025 10:37", "14.11.2025 9:28"),
    ("通話ID;発話日時;話者;発話内容", "2025/11/14 10:37:00", "2025/11/14 9:28:00"),
    ("会话ID;发送时间;发送者;消息内容", "2025年11月14日 10:37", "2025年11月14日 9:28"),
    ("대화 ID;작성일시;작성자;메시지", "2025년 11월 14일 10:37", "2025년 11월 14일 9:28"),
)
PAIRS = (
    ("Datum", "Tijd"), ("Datum", "Uhrzeit"), ("Date", "Heure"), ("Fecha", "Hora"), ("Data", "Ora"),
    ("Data", "Hora"), ("Datum", "Tid"), ("Dato", "Klokkeslæt"), ("Data", "Godzina"), ("Дата", "Время"),
    ("日付", "時刻"),
)  # fmt: skip


class TestColumnsInOtherLanguages:
    @pytest.mark.parametrize(("header", "late", "early"), TIMES)
    @pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
    def test_sort_the_messages(
        self, tmp_path: Path, header: str, late: str, early: str, encoding: str
    ) -> None:
        if encoding == "ascii":
            header = header.translate(str.maketrans("éóúÄäęśćń", "eouAaescn"))
        rows = f"z1;{late};Sanne;Graag gedaan.\nz1;{early};Joris;Werkt de app?\n"
        file = written(tmp_path / "t.csv", f"{header}\n{rows}")
        assert said(file) == {"z1": [("Joris", "Werkt de app?"), ("Sanne", "Graag gedaan.")]}

    @pytest.mark.parametrize(("date", "clock"), PAIRS)
    def test_of_a_date_and_of_a_time_of_day_are_joined(self, tmp_path: Path, date: str, clock: str) -> None:
        rows = "z1;14.11.2025;10:37;Last.\nz1;14.11.2025;10:28;Second.\nz1;13.11.2025;12:00;First.\n"
        file = written(tmp_path / "t.csv", f"ticket_id;{date};{clock};text\n{rows}")
        assert texts(file) == {"z1": ["First.", "Second.", "Last."]}

    ROWS = "z1;14-11-2025;10:37;Last.\nz1;14-11-2025;10:28;First.\n"

    def test_with_an_unknown_time_of_day_are_reported(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", f"ticket_id;Datum;Klokje;text\n{self.ROWS}")
        assert texts(file) == {"z1": ["Last.", "First."]}
        hint = "these look like times of day: Klokje; name the right one with --map time=NAME"
        assert any(hint in line for line in notices_of(file))
        assert texts(file, map={"time": "Klokje"}) == {"z1": ["First.", "Last."]}

    def test_do_not_change_what_english_tables_mean(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "tid,time,data,text\n7,10:37,Room 4,Hi.\n7,10:40,Room 5,Ho.\n")
        assert texts(file, map={"dialogue": "tid"}) == {"7": ["Hi.", "Ho."]}
